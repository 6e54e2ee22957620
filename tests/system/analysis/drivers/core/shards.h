/* Codecs and shards for the drivers of the codec. */
#ifndef ANALYSIS_SHARDS_H
#define ANALYSIS_SHARDS_H

#include "../driver.h"
#include "gfsmith.h"

typedef struct call {
  gfsmith_codec *codec;
  unsigned k, m;
  size_t len;
  uint8_t *shard[GFSMITH_MAX_SHARDS];
} call;

/* A codec with any matrix, or the end of the path if it cannot be created. */
static gfsmith_codec *any_codec(unsigned k, unsigned m) {
  gfsmith_codec *codec;
  uint8_t *matrix = block((size_t)k * m);
  if (gfsmith_codec_create_matrix(&codec, GFSMITH_POLYNOMIAL, k, m, matrix) != GFSMITH_OK)
    exit(1);
  free(matrix);
  return codec;
}

/* Shards of exactly `len` bytes each, with any contents. */
static void make_shards(call *c, size_t len) {
  c->len = len;
  for (unsigned n = 0; n < c->k + c->m; n++)
    c->shard[n] = block(len);
}

static void free_shards(call *c) {
  for (unsigned n = 0; n < c->k + c->m; n++)
    free(c->shard[n]);
}

#endif
