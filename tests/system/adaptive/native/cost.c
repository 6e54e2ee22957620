/* Thousands of calls, for a tool that counts instructions: cost CALLS [attached [POLICY [force]]].
 * The shape is small, because the overhead per call does not depend on the kernel. "force": the
 * policy is forced after the codec has settled on another. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gfsmith_adaptive.h"

enum { K = 4, M = 2, LENGTH = 64, SETTLED = 500 };

int main(int argc, char **argv) {
  static uint8_t shards[K + M][LENGTH];
  const uint8_t *data[K];
  uint8_t *parity[M];
  gfsmith_adaptive *adaptive = NULL;
  gfsmith_adaptive_options options;
  gfsmith_codec *codec;
  gfsmith_adaptive_defaults(&options);
  options.counters = 0;
  options.search_calls = 1; /* settled on `default`, which is also the reference */
  options.moved = 10;
  options.policy = argc == 4 ? argv[3] : NULL;
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
  for (long n = 0; n < atol(argv[1]); n++) {
    if (argc > 4 && n == SETTLED && gfsmith_adaptive_force(adaptive, argv[3]) != GFSMITH_OK)
      return 2;
    if (gfsmith_encode(codec, LENGTH, data, parity) != GFSMITH_OK)
      return 2;
  }
  gfsmith_codec_destroy(codec);
  gfsmith_adaptive_destroy(adaptive);
  return 0;
}
