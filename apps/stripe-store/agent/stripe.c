#include "stripe.h"

#include <stdlib.h>
#include <string.h>

size_t stripe_chunk(const agent *a, uint64_t length) {
  unsigned k = layout_get(a->layout)->k;
  return length == 0 ? 1 : (size_t)((length + k - 1) / k);
}

stripe *stripe_new(agent *a, uint64_t length) {
  size_t chunk = stripe_chunk(a, length);
  size_t room = (chunk * layout_get(a->layout)->k + 63) / 64 * 64;
  if (room > a->memory_max - a->memory)
    return NULL;
  stripe *s = calloc(1, sizeof *s);
  if (s == NULL || (s->bytes = aligned_alloc(64, room)) == NULL)
    abort();
  memset(s->bytes + length, 0, room - length);
  s->agent = a;
  s->users = 1;
  s->length = length;
  s->chunk = chunk;
  s->room = room;
  a->memory += room;
  return s;
}

void stripe_free(stripe *s) {
  if (s == NULL || --s->users > 0)
    return;
  s->agent->memory -= s->room;
  free(s->bytes);
  free(s);
}
