/* stripes: calls of several copies of the library on the stripes of a pool, in a given order. */
#define _POSIX_C_SOURCE 200809L
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "gfsmith.h"

typedef gfsmith_status encode_fn(const gfsmith_codec *codec, size_t len, const uint8_t *const *data,
                                 uint8_t *const *parity);
typedef gfsmith_status update_fn(const gfsmith_codec *codec, size_t len, unsigned count,
                                 const unsigned *indices, const uint8_t *const *deltas,
                                 uint8_t *const *parity);

/* The calls of one copy: encode, or update with the `data` sources as deltas of the first shards.
 */
typedef struct calls {
  encode_fn *encode;
  update_fn *update; /* NULL: encode */
  const gfsmith_codec *codec;
  unsigned data, parities; /* shards of a stripe */
} calls;

static void call(const calls *c, size_t len, uint8_t *const *shards) {
  static const unsigned indices[] = {0, 1, 2, 3, 4, 5, 6, 7};
  const uint8_t *const *data = (const uint8_t *const *)shards;
  if (c->update != NULL)
    c->update(c->codec, len, c->data, indices, data, shards + c->data);
  else
    c->encode(c->codec, len, data, shards + c->data);
}

/* Nanoseconds of processor time that calls on `count` stripes take. Shard n of stripe s begins at
 * pool + (s * shards + n) * distance. */
uint64_t stripes_time(const calls *c, size_t len, size_t distance, uint8_t *pool,
                      const uint32_t *order, size_t count) {
  struct timespec from, to;
  unsigned total = c->data + c->parities;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
  for (size_t s = 0; s < count; s++) {
    uint8_t *shards[GFSMITH_MAX_SHARDS];
    for (size_t n = 0; n < total; n++)
      shards[n] = pool + (order[s] * (size_t)total + n) * distance;
    call(c, len, shards);
  }
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
  return (uint64_t)(to.tv_sec - from.tv_sec) * 1000000000u + (uint64_t)to.tv_nsec -
         (uint64_t)from.tv_nsec;
}
