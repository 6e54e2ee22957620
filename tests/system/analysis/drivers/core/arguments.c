/* Calls with NULL wherever the interface permits it, and with any number as an index, a hint, a
 * polynomial or a shape. */
#include "shards.h"

/* The pointers of the shards in a set of bits, and NULL for the others. The sets are enumerated,
 * since gfs_all_given counts pointers without branches: Eva would not learn from the number which
 * of them are NULL. */
static void give(const call *c, unsigned given, uint8_t **shard) {
  for (unsigned n = 0; n < c->k + c->m; n++)
    shard[n] = given >> n & 1 ? c->shard[n] : NULL;
}

static void calls(const call *c, size_t len, unsigned given) {
  uint8_t *shard[GFSMITH_MAX_SHARDS];
  const uint8_t *const *data = (const uint8_t *const *)shard;
  unsigned index = Frama_C_unsigned_int_interval(0, UINT32_MAX);
  bool ok;
  give(c, given, shard);
  gfsmith_encode(c->codec, len, any() ? data : NULL, shard + c->k);
  gfsmith_encode(c->codec, len, data, any() ? shard + c->k : NULL);
  gfsmith_check(c->codec, len, any() ? data : NULL, any() ? &ok : NULL);
  gfsmith_append(c->codec, len, index, data[0], shard + c->k, any());
  gfsmith_update_many(c->codec, len, 1, &index, data, shard + c->k);
  gfsmith_update_many(c->codec, len, 1, &index, NULL, shard + c->k);
  gfsmith_update_many(c->codec, len, 1, NULL, data, shard + c->k);
}

static void without_codec(void) {
  gfsmith_codec *codec;
  unsigned number = Frama_C_unsigned_int_interval(0, UINT32_MAX);
  uint8_t matrix[1] = {1};
  bool ok;
  gfsmith_encode(NULL, 1, NULL, NULL);
  gfsmith_check(NULL, 1, NULL, &ok);
  gfsmith_update_many(NULL, 1, 1, NULL, NULL, NULL);
  gfsmith_codec_hint(NULL, GFSMITH_HINT_AUTO);
  gfsmith_codec_destroy(NULL);
  gfsmith_codec_create_matrix(NULL, number, 1, 1, matrix);
  gfsmith_codec_create_matrix(&codec, GFSMITH_POLYNOMIAL, number, 255, matrix);
  gfsmith_codec_create_matrix(&codec, GFSMITH_POLYNOMIAL, 255, number, matrix);
  gfsmith_codec_create_matrix(&codec, GFSMITH_POLYNOMIAL, 1, 1, NULL);
  gfsmith_strerror((gfsmith_status)Frama_C_interval(-7, 1));
}

int main(void) {
  call c = {.k = 2, .m = 3};
  without_codec();
  c.codec = any_codec(c.k, c.m);
  gfsmith_codec_hint(c.codec, (gfsmith_hint)Frama_C_interval(3, 100));
  make_shards(&c, 65);
  for (unsigned given = 0; given < 1u << (c.k + c.m); given++) {
    calls(&c, 65, given);
    calls(&c, 0, given);
  }
  free_shards(&c);
  gfsmith_codec_destroy(c.codec);
  return 0;
}
