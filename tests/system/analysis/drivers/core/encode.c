/* Encode, check and update at some shapes and lengths: any matrix, any data. */
#include "shards.h"

#ifndef SHAPES
#define SHAPES {1, 1}, {4, 3}, {3, 9}
#endif
static const unsigned shapes[][2] = {SHAPES};

static void calls(const call *c) {
  const uint8_t *const *data = (const uint8_t *const *)c->shard;
  uint8_t *const *parity = c->shard + c->k;
  bool ok;
  gfsmith_encode(c->codec, c->len, data, parity);
  gfsmith_check(c->codec, c->len, data, &ok);
  gfsmith_append(c->codec, c->len, 0, data[0], parity, any());
  unsigned index[3] = {c->k - 1, 0, c->k / 2};
  const uint8_t *deltas[3] = {data[c->k - 1], data[0], data[c->k / 2]};
  gfsmith_update_many(c->codec, c->len, 3, index, deltas, parity);
}

int main(void) {
  static const size_t lens[] = {0, 1, 100, 1024, 1025, 4096, 16385};
  for (unsigned n = 0; n < NUMBER_OF(shapes); n++) {
    call c = {.k = shapes[n][0], .m = shapes[n][1]};
    c.codec = any_codec(c.k, c.m);
    for (unsigned l = 0; l < NUMBER_OF(lens); l++) {
      make_shards(&c, lens[l]);
      for (int hint = GFSMITH_HINT_AUTO; hint <= GFSMITH_HINT_STREAMING; hint++) {
        gfsmith_codec_hint(c.codec, (gfsmith_hint)hint);
        calls(&c);
      }
      free_shards(&c);
    }
    gfsmith_codec_destroy(c.codec);
  }
  return 0;
}
