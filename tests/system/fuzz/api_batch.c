/* Batch calls: several stripes in one call. */
#include "api.h"

enum { STRIPES = 4 };

/* Place n of the arena has shard n of all stripes, stripe after stripe. */
static void place(input *in, size_t len, unsigned places) {
  unsigned how = (unsigned)take(in, 2);
  for (unsigned n = 0; n < places; n++)
    arena_place(n, len, how & 1, how);
  arena_save(places);
}

/* Check the parities of one stripe against the model. */
static void require_encoded(const subject *s, size_t len, unsigned first) {
  uint8_t expected[ARENA_BYTES];
  for (unsigned i = 0; i < s->m; i++) {
    memset(expected, 0, len);
    for (unsigned j = 0; j < s->k; j++)
      model_add(s->polynomial, s->packet, s->matrix[i * s->k + j], len, arena_at(first + j),
                expected);
    arena_require(first + s->k + i, expected);
  }
}

/* Check stripes of which one has a wrong byte, if `wrong` is a stripe. */
static void require_checked(const subject *s, size_t len, unsigned count, unsigned wrong) {
  pointers all;
  bool ok[STRIPES];
  unsigned n = s->k + s->m;
  api_pointers(&all, 0, count * n, 0);
  if (wrong < count)
    arena_at(wrong * n + s->k)[len / 2] ^= 1;
  gfsmith_status status =
      gfsmith_check_stripes(s->codec, len, count, (const uint8_t *const *)all.array, ok);
  REQUIRE(status == GFSMITH_OK);
  for (unsigned t = 0; t < count; t++)
    REQUIRE(ok[t] == (t != wrong));
}

void api_batch(input *in, const subject *s) {
  const uint8_t *data[MODEL_SHARDS];
  uint8_t *parity[MODEL_SHARDS];
  unsigned n = s->k + s->m, count = 1 + take_below(in, STRIPES);
  count = count > MODEL_SHARDS / n ? MODEL_SHARDS / n : count;
  size_t len = api_length(in, s);
  place(in, len, count * n);
  for (unsigned t = 0; t < count; t++) {
    for (unsigned j = 0; j < s->k; j++)
      data[t * s->k + j] = arena_at(t * n + j);
    for (unsigned i = 0; i < s->m; i++)
      parity[t * s->m + i] = arena_at(t * n + s->k + i);
  }
  unsigned fault = api_fault(in), wrong = take_below(in, 2 * STRIPES);
  if (fault % 2 == 1)
    data[fault / 2 % (count * s->k)] = NULL;
  else if (fault != 0)
    parity[fault / 2 % (count * s->m)] = NULL;
  bool valid = s->packet == 0 || len % (8 * s->packet) == 0;
  gfsmith_status status = gfsmith_encode_stripes(s->codec, len, count, data, parity);
  REQUIRE(status == (len > 0 && (fault != 0 || !valid) ? GFSMITH_EINVAL : GFSMITH_OK));
  if (status != GFSMITH_OK || len == 0) {
    arena_require_same(0, count * n);
    return;
  }
  for (unsigned t = 0; t < count; t++) {
    arena_require_same(t * n, t * n + s->k);
    require_encoded(s, len, t * n);
  }
  require_checked(s, len, count, wrong);
}
