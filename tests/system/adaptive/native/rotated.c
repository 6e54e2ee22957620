/* rotated TRACE: a program empties its trace, as logrotate does with copytruncate, and goes on. */
#include <stdlib.h>
#include <unistd.h>

#include "gfsmith.h"
#include "gfsmith_adaptive.h"

enum { K = 2, LENGTH = 4096 };

int main(int argc, char **argv) {
  gfsmith_adaptive *adaptive;
  gfsmith_adaptive_options options;
  gfsmith_codec *codec;
  uint8_t *memory = calloc(K + 1, LENGTH);
  if (argc != 2 || memory == NULL)
    return 1;
  gfsmith_adaptive_defaults(&options);
  options.trace = argv[1];
  if (gfsmith_adaptive_create(&adaptive, &options) != GFSMITH_OK ||
      gfsmith_codec_create(&codec, "cauchy", K, 1) != GFSMITH_OK ||
      gfsmith_codec_hint(codec, GFSMITH_HINT_STREAMING) != GFSMITH_OK ||
      gfsmith_codec_adaptive(codec, adaptive) != GFSMITH_OK || truncate(argv[1], 0) != 0)
    return 1;
  const uint8_t *data[K] = {memory, memory + LENGTH};
  uint8_t *parity[1] = {memory + 2 * LENGTH};
  gfsmith_status status = gfsmith_encode(codec, LENGTH, data, parity);
  gfsmith_codec_destroy(codec);
  gfsmith_adaptive_destroy(adaptive);
  free(memory);
  return status == GFSMITH_OK ? 0 : 1;
}
