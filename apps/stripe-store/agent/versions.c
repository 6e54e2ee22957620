#include "versions.h"

#include <stdlib.h>

void versions_add(versions *v, uint64_t version) {
  if (v->count == v->room) {
    v->room = v->room == 0 ? 64 : 2 * v->room;
    v->at = reallocarray(v->at, v->room, sizeof *v->at);
    if (v->at == NULL)
      abort();
  }
  v->at[v->count++] = version;
}

void versions_free(versions *v) {
  free(v->at);
  *v = (versions){0};
}
