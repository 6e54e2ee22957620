#include "records.h"

#include <stdlib.h>
#include <string.h>

enum { LENGTH = 2, LEAST = 4096 }; /* bytes: before each record; at first */

bool records_add(records *l, const uint8_t *bytes, size_t length) {
  size_t filled = l->filled + LENGTH + length;
  if (filled > l->room) {
    size_t room = l->room == 0 ? LEAST : 2 * l->room;
    uint8_t *more = realloc(l->bytes, room);
    if (more == NULL)
      return false;
    l->bytes = more;
    l->room = room;
  }
  put_le(l->bytes + l->filled, length, LENGTH);
  memcpy(l->bytes + l->filled + LENGTH, bytes, length);
  l->filled = filled;
  return true;
}

bool records_next(const records *l, size_t *at, record *r) {
  if (*at >= l->filled)
    return false;
  size_t length = (size_t)get_le(l->bytes + *at, LENGTH);
  const uint8_t *bytes = l->bytes + *at + LENGTH;
  *at += LENGTH + length;
  return record_decode(r, bytes, length);
}

void records_free(records *l) {
  free(l->bytes);
  *l = (records){0};
}
