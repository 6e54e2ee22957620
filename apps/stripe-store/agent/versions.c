#include "versions.h"

#include <stdlib.h>

bool versions_add(versions *v, uint64_t version) {
  if (v->count == v->room) {
    size_t room = v->room == 0 ? 64 : 2 * v->room;
    uint64_t *at = reallocarray(v->at, room, sizeof *at);
    if (at == NULL)
      return false;
    v->at = at;
    v->room = room;
  }
  v->at[v->count++] = version;
  return true;
}

void versions_free(versions *v) {
  free(v->at);
  *v = (versions){0};
}
