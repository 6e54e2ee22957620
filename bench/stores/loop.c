/* loop: encodes stripes of a pool in a given order by one of several copies of the library. */
#define _POSIX_C_SOURCE 200809L
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "gfsmith.h"

enum { SHARDS = 14, DATA = 10 };

typedef gfsmith_status encode_fn(const gfsmith_codec *codec, size_t len, const uint8_t *const *data,
                                 uint8_t *const *parity);

/* Nanoseconds of processor time that encoding `count` stripes takes. Shard n of stripe s begins at
 * pool + (s * SHARDS + n) * distance. */
uint64_t stores_time(encode_fn *encode, const gfsmith_codec *codec, size_t len, size_t distance,
                     uint8_t *pool, const uint32_t *order, size_t count) {
  struct timespec from, to;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
  for (size_t s = 0; s < count; s++) {
    uint8_t *shards[SHARDS];
    for (size_t n = 0; n < SHARDS; n++)
      shards[n] = pool + (order[s] * (size_t)SHARDS + n) * distance;
    encode(codec, len, (const uint8_t *const *)shards, shards + DATA);
  }
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
  return (uint64_t)(to.tv_sec - from.tv_sec) * 1000000000u + (uint64_t)to.tv_nsec -
         (uint64_t)from.tv_nsec;
}
