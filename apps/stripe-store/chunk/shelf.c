#include "shelf.h"

#include <stdlib.h>

void kept_list_free(kept_list *list) {
  free(list->chunk);
  free(list->record);
  free(list->damage);
  *list = (kept_list){0};
}

/* False: no memory. */
static bool add(uint64_t **versions, size_t *count, uint64_t version) {
  if ((*count & (*count - 1)) == 0) { /* grow to the next power of two */
    size_t room = *count == 0 ? 1 : 2 * *count;
    uint64_t *more = reallocarray(*versions, room, sizeof *more);
    if (more == NULL)
      return false;
    *versions = more;
  }
  (*versions)[(*count)++] = version;
  return true;
}

void kept_list_add(kept_list *list, shelf_kind kind, uint64_t version) {
  bool added = kind == SHELF_CHUNK ? add(&list->chunk, &list->chunks, version)
                                   : add(&list->record, &list->records, version);
  list->incomplete = list->incomplete || !added;
}

void kept_list_add_damaged(kept_list *list, uint64_t version) {
  list->incomplete = !add(&list->damage, &list->damaged, version) || list->incomplete;
}
