/* threads: encoding over a pool compared with the serial call, alternately. docs/threads.md
 *
 *     threads [ROUNDS [CODE K M]]
 *
 * Prints for each length the medians of both, and the median and the 10th and 90th percentile of
 * the ratio of the rounds. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gfsmith_parallel.h"

enum {
  LONGEST = 16 << 20,
  SHORTEST = 4 << 10,
  DISTANCE = LONGEST + 4096 + 128,
  BATCH = 4 << 20,
  ROUNDS_MAX = 10000
};

typedef struct setting {
  gfsmith_codec *codec;
  const gfsmith_executor *executor;
  unsigned k, m;
  size_t len;
  uint8_t *shards[GFSMITH_MAX_SHARDS];
} setting;

static void require(bool condition, const char *what) {
  if (!condition) {
    fprintf(stderr, "threads: %s\n", what);
    exit(1);
  }
}

static double seconds(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void encode(const setting *s, bool parallel) {
  const uint8_t *const *data = (const uint8_t *const *)s->shards;
  uint8_t *const *parity = s->shards + s->k;
  gfsmith_status status = parallel
                              ? gfsmith_encode_parallel(s->codec, s->executor, s->len, data, parity)
                              : gfsmith_encode(s->codec, s->len, data, parity);
  require(status == GFSMITH_OK, gfsmith_strerror(status));
}

/* The time of one call, from as many as process about 4 MiB of each shard. */
static double call_time(const setting *s, bool parallel) {
  size_t calls = BATCH / s->len + 1;
  double start = seconds();
  for (size_t n = 0; n < calls; n++)
    encode(s, parallel);
  return (seconds() - start) / (double)calls;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void measure(const setting *s, unsigned rounds) {
  static double time[2][ROUNDS_MAX], ratio[ROUNDS_MAX];
  for (unsigned n = 0; n < rounds; n++) {
    for (unsigned turn = 0; turn < 2; turn++) {
      bool parallel = (n + turn) % 2 == 1;
      time[parallel][n] = call_time(s, parallel);
    }
    ratio[n] = time[0][n] / time[1][n];
  }
  qsort(time[0], rounds, sizeof(double), ascending);
  qsort(time[1], rounds, sizeof(double), ascending);
  qsort(ratio, rounds, sizeof(double), ascending);
  printf("%6zu KiB  serial %9.1f us  parallel %9.1f us  speed-up %.2f (%.2f to %.2f)\n",
         s->len >> 10, 1e6 * time[0][rounds / 2], 1e6 * time[1][rounds / 2], ratio[rounds / 2],
         ratio[rounds / 10], ratio[rounds * 9 / 10]);
}

int main(int arguments, char **argument) {
  setting s = {.k = 10, .m = 4};
  const char *code = "cauchy";
  unsigned rounds = arguments > 1 ? (unsigned)atoi(argument[1]) : 101;
  if (arguments > 4) {
    code = argument[2];
    s.k = (unsigned)atoi(argument[3]);
    s.m = (unsigned)atoi(argument[4]);
  }
  require(rounds >= 1 && rounds <= ROUNDS_MAX, "ROUNDS: allowed: 1 to 10000");
  gfsmith_status status = gfsmith_codec_create(&s.codec, code, s.k, s.m);
  require(status == GFSMITH_OK, gfsmith_strerror(status));
  gfsmith_pool *pool;
  status = gfsmith_pool_create(&pool, 0);
  require(status == GFSMITH_OK, gfsmith_strerror(status));
  s.executor = gfsmith_pool_executor(pool);
  size_t bytes = (size_t)(s.k + s.m) * DISTANCE;
  uint8_t *memory = aligned_alloc(128, bytes);
  require(memory != NULL, "out of memory");
  for (size_t n = 0; n < bytes; n++)
    memory[n] = (uint8_t)(n * 31 >> 3);
  for (unsigned n = 0; n < s.k + s.m; n++)
    s.shards[n] = memory + (size_t)n * DISTANCE; /* whole lines, in different sets of a cache */
  printf("%s %u+%u, %s, %u threads, %u rounds\n", code, s.k, s.m, gfsmith_isa(),
         s.executor->workers, rounds);
  for (s.len = SHORTEST; s.len <= LONGEST; s.len *= 2)
    measure(&s, rounds);
  gfsmith_pool_destroy(pool);
  gfsmith_codec_destroy(s.codec);
  free(memory);
  return 0;
}
