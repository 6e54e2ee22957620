/* scrub.c: ways to read shards for a scrub, timed alternately.
 *
 * usage: scrub BYTES POOL TURNS TRIALS
 *
 * POOL: bytes of memory with the shards, which are visited in random order; 0: one shard. Prints
 * one line per trial: nanoseconds per shard of reading alone, of the sketch and of the CRC-32C.
 * Each trial starts with another one.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "clock.h"
#include "gfsmith_checksum.h"

enum { CONTENDERS = 3, STAGGER = 128 };

static gfsmith_sketch *sketch;
static size_t len;
static volatile uint64_t result;

/* Read with as many sums as lines of a step, in vectors of the CPU. */
static void read_alone(const uint8_t *shard) {
  enum { WORDS = 32 };
  const uint64_t *words = (const void *)shard;
  uint64_t sums[WORDS] = {0};
  for (size_t n = 0; n < len / sizeof *words; n += WORDS)
    for (size_t i = 0; i < WORDS; i++)
      sums[i] ^= words[n + i];
  for (size_t i = 0; i < WORDS; i++)
    result ^= sums[i];
}

static void add_sketch(const uint8_t *shard) {
  uint8_t sum[GFSMITH_SKETCH_BYTES] = {0};
  gfsmith_sketch_add(sketch, sum, 0, len, shard);
  result ^= sum[0];
}

static void add_crc(const uint8_t *shard) {
  uint64_t state = 0;
  gfsmith_checksum_update(GFSMITH_CRC32C, &state, len, shard);
  result ^= state;
}

static void (*const contender[CONTENDERS])(const uint8_t *) = {read_alone, add_sketch, add_crc};

static uint64_t random_next(void) {
  static uint64_t state = 88172645463325252u;
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state;
}

int main(int argc, char **argv) {
  if (argc != 5)
    return 2;
  len = (size_t)atol(argv[1]);
  size_t pitch = len + STAGGER, shards = (size_t)atol(argv[2]) / pitch;
  shards += shards == 0;
  int turns = atoi(argv[3]), trials = atoi(argv[4]);
  size_t bytes = shards * pitch;
  uint64_t *pool = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pool == MAP_FAILED || gfsmith_sketch_create(&sketch, GFSMITH_POLYNOMIAL) != GFSMITH_OK)
    return 2;
  madvise(pool, bytes, MADV_HUGEPAGE);
  for (size_t n = 0; n < bytes / sizeof *pool; n++)
    pool[n] = random_next();
  for (int trial = 0; trial < trials; trial++) {
    double ns[CONTENDERS];
    for (int n = 0; n < CONTENDERS; n++) {
      int who = (trial + n) % CONTENDERS;
      double start = now();
      for (int turn = 0; turn < turns; turn++)
        contender[who]((const uint8_t *)pool + random_next() % shards * pitch);
      ns[who] = (now() - start) / turns;
    }
    for (int n = 0; n < CONTENDERS; n++)
      printf("%.1f%c", ns[n], n + 1 < CONTENDERS ? ' ' : '\n');
  }
  gfsmith_sketch_destroy(sketch);
  return 0;
}
