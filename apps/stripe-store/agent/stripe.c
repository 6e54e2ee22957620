#include "stripe.h"

#include <stdlib.h>
#include <string.h>

size_t stripe_chunk(const agent *a, uint64_t length) {
  unsigned k = layout_get(a->layout)->k;
  return length == 0 ? 1 : (size_t)((length + k - 1) / k);
}

stripe *stripe_expect(agent *a, uint64_t length) {
  size_t chunk = stripe_chunk(a, length);
  size_t room = (chunk * layout_get(a->layout)->k + 63) / 64 * 64;
  stripe *s = calloc(1, sizeof *s);
  uint8_t *bytes = aligned_alloc(64, room);
  if (s == NULL || bytes == NULL) {
    free(s);
    free(bytes);
    return NULL;
  }
  s->bytes = bytes;
  memset(s->bytes + length, 0, room - length);
  s->agent = a;
  s->users = 1;
  s->length = length;
  s->chunk = chunk;
  s->room = room;
  return s;
}

bool stripe_fits(agent *a, size_t bytes) {
  bool fits = bytes <= a->memory_max - a->memory;
  a->starved = a->starved || !fits;
  return fits;
}

bool stripe_charge(stripe *s, size_t length) {
  agent *a = s->agent;
  size_t wanted = length < s->length ? length : s->room;
  if (!stripe_fits(a, wanted - s->charged))
    return false;
  a->memory += wanted - s->charged;
  s->charged = wanted;
  return true;
}

stripe *stripe_new(agent *a, uint64_t length) {
  stripe *s = stripe_expect(a, length);
  if (s != NULL && !stripe_charge(s, s->length)) {
    stripe_free(s);
    return NULL;
  }
  return s;
}

void stripe_free(stripe *s) {
  if (s == NULL || --s->users > 0)
    return;
  s->agent->memory -= s->charged;
  free(s->bytes);
  free(s);
}
