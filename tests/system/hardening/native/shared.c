/* shared: the objects that several threads share, used by all of them at once from the first call
 * on. Built with ThreadSanitizer, which detects every unordered access: the choice of an
 * instruction set and of RAID's kernels at their first use, a plan, the remembered repairs of a
 * codec in packet layout, and more losses than it can remember. */
#include <gfsmith.h>
#include <gfsmith_algebra.h>
#include <gfsmith_plan.h>
#include <gfsmith_raid.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUIRE(condition)                                                                         \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "shared: line %d: %s\n", __LINE__, #condition);                              \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

enum { K = 6, M = 4, SHARDS = K + M, LEN = 768, PACKET = 32, WORKERS = 4, LOSSES = 600 };

static gfsmith_codec *codec;
static gfsmith_plan *plan;
static bool lost_three[SHARDS] = {1, 0, 1, 1, 0, 1, 1, 1, 0, 1};

static void fill(uint8_t (*memory)[LEN], uint8_t **shards) {
  for (unsigned n = 0; n < SHARDS; n++) {
    shards[n] = memory[n];
    for (unsigned b = 0; b < LEN; b++)
      memory[n][b] = (uint8_t)(n * 37 + b * 11 + 1);
  }
  REQUIRE(gfsmith_encode(codec, LEN, (const uint8_t *const *)shards, shards + K) == GFSMITH_OK);
}

/* The same losses for all workers: at first new, then known, finally more than the codec keeps. */
static void lose_and_repair(uint8_t **shards) {
  bool ok;
  for (unsigned round = 0; round < LOSSES; round++) {
    bool present[SHARDS];
    for (unsigned n = 0; n < SHARDS; n++)
      present[n] = true;
    uint32_t mixed = round * UINT32_C(2654435761); /* Knuth vol. 3, 6.4 */
    for (unsigned n = 0; n < M; n++, mixed /= SHARDS)
      present[mixed % SHARDS] = false;
    for (unsigned n = 0; n < SHARDS; n++)
      if (!present[n])
        memset(shards[n], 0, LEN);
    REQUIRE(gfsmith_reconstruct(codec, LEN, shards, present, NULL) == GFSMITH_OK);
  }
  REQUIRE(gfsmith_check(codec, LEN, (const uint8_t *const *)shards, &ok) == GFSMITH_OK && ok);
}

static void raid(uint8_t **shards) {
  bool ok;
  REQUIRE(gfsmith_pqr_gen(5, LEN, shards) == GFSMITH_OK);
  REQUIRE(gfsmith_pqr_check(5, LEN, (const uint8_t *const *)shards, &ok) == GFSMITH_OK && ok);
  REQUIRE(gfsmith_pq_gen(5, LEN, shards) == GFSMITH_OK);
  REQUIRE(gfsmith_xor_gen(5, LEN, shards) == GFSMITH_OK);
  REQUIRE(gfsmith_raid_recover(5, 3, LEN, shards, lost_three) == GFSMITH_OK);
}

static void *work(void *argument) {
  static const char *const names[2] = {"scalar", "sse"};
  uint8_t memory[SHARDS][LEN], out[64];
  uint8_t *shards[SHARDS];
  (void)argument;
  REQUIRE(gfsmith_isa() != NULL);
  fill(memory, shards);
  raid(shards);
  fill(memory, shards);
  for (unsigned round = 0; round < 8; round++) {
    REQUIRE(gfsmith_set_isa(names[round % 2]) == GFSMITH_OK);
    REQUIRE(gfsmith_plan_run(plan, LEN, shards) == GFSMITH_OK);
    REQUIRE(gfsmith_multiply(0x11d, sizeof out, memory[0], memory[1], out) == GFSMITH_OK);
  }
  lose_and_repair(shards);
  return NULL;
}

int main(void) {
  pthread_t threads[WORKERS];
  REQUIRE(gfsmith_codec_create(&codec, "cauchy", K, M) == GFSMITH_OK);
  REQUIRE(gfsmith_codec_packets(codec, PACKET) == GFSMITH_OK);
  REQUIRE(gfsmith_plan_create(&plan, codec, lost_three, NULL) == GFSMITH_OK);
  for (unsigned n = 0; n < WORKERS; n++)
    REQUIRE(pthread_create(&threads[n], NULL, work, NULL) == 0);
  for (unsigned n = 0; n < WORKERS; n++)
    REQUIRE(pthread_join(threads[n], NULL) == 0);
  gfsmith_plan_destroy(plan);
  gfsmith_codec_destroy(codec);
  puts("ok");
  return 0;
}
