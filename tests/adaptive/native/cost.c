/* Calls by thousands, for a tool that counts instructions: cost CALLS [attached [POLICY]]. The
 * shape is small: what comes on top of a kernel is the same for all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gfsmith_adaptive.h"

enum { K = 4, M = 2, LENGTH = 64 };

int main(int argc, char **argv) {
  static uint8_t shards[K + M][LENGTH];
  const uint8_t *data[K];
  uint8_t *parity[M];
  gfsmith_adaptive *adaptive = NULL;
  gfsmith_adaptive_options options;
  gfsmith_codec *codec;
  gfsmith_adaptive_defaults(&options);
  options.counters = 0;
  options.search_calls = 1; /* settled with `default`, as what is compared with */
  options.moved = 10;
  options.policy = argc > 3 ? argv[3] : NULL;
  for (unsigned j = 0; j < K; j++)
    data[j] = shards[j];
  for (unsigned i = 0; i < M; i++)
    parity[i] = shards[K + i];
  if (argc < 2 || gfsmith_codec_create(&codec, "cauchy", K, M) != GFSMITH_OK ||
      gfsmith_codec_hint(codec, GFSMITH_HINT_STREAMING) != GFSMITH_OK)
    return 2;
  if (argc > 2 && (gfsmith_adaptive_create(&adaptive, &options) != GFSMITH_OK ||
                   gfsmith_codec_adaptive(codec, adaptive) != GFSMITH_OK))
    return 2;
  for (long n = atol(argv[1]); n > 0; n--)
    if (gfsmith_encode(codec, LENGTH, data, parity) != GFSMITH_OK)
      return 2;
  gfsmith_codec_destroy(codec);
  gfsmith_adaptive_destroy(adaptive);
  return 0;
}
