/* loop.c: gfsmith_encode called from C, for overhead.py: the cost of a call without Python. */
#include <stdlib.h>
#include <time.h>

#include "gfsmith.h"

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Nanoseconds of `calls` calls on the shards in `data` and `parity`; negative: it
 * failed. */
double loop(const char *code, unsigned k, unsigned m, size_t len, const uint8_t *const *data,
            uint8_t *const *parity, unsigned calls) {
  gfsmith_codec *codec;
  if (gfsmith_codec_create(&codec, code, k, m) != GFSMITH_OK)
    return -1;
  gfsmith_status status = gfsmith_encode(codec, len, data, parity);
  double begin = now();
  for (unsigned i = 0; i < calls; i++)
    status |= gfsmith_encode(codec, len, data, parity);
  double end = now();
  gfsmith_codec_destroy(codec);
  return status == GFSMITH_OK ? end - begin : -1;
}
