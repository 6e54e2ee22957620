/* threads: several threads use one codec while others choose instruction sets and create codecs.
 * Built with ThreadSanitizer, which detects every unordered access. */
#include <pthread.h>
#include <string.h>

#include "gfsmith.h"
#include "reference.h"

enum { K = 6, M = 9, LEN = 3000, WORKERS = 4, ROUNDS = 20 };

static uint8_t data[K][LEN], parity[M][LEN];
static const uint8_t *data_in[K];

/* Each worker has its own first call into dispatch, then uses the shared codec. */
static void *work(void *argument) {
  const gfsmith_codec *shared = argument;
  uint8_t *memory = malloc((size_t)(K + M) * LEN);
  uint8_t *shards[K + M];
  bool present[K + M], ok;
  REQUIRE(memory != NULL);
  for (unsigned i = 0; i < K + M; i++) {
    shards[i] = memory + (size_t)i * LEN;
    if (i < K)
      memcpy(shards[i], data[i], LEN);
  }
  for (unsigned round = 0; round < ROUNDS; round++) {
    REQUIRE(gfsmith_encode(shared, LEN, data_in, shards + K) == GFSMITH_OK);
    for (unsigned i = 0; i < M; i++)
      REQUIRE(memcmp(shards[K + i], parity[i], LEN) == 0);
    /* Losses that are new in the first rounds and later known to all workers. */
    for (unsigned i = 0; i < K + M; i++) {
      present[i] = i != round % 4 && i != 4 && i != K + round % 4;
      if (!present[i])
        memset(shards[i], 0, LEN);
    }
    REQUIRE(gfsmith_reconstruct(shared, LEN, shards, present, NULL) == GFSMITH_OK);
    REQUIRE(gfsmith_check(shared, LEN, (const uint8_t *const *)shards, &ok) == GFSMITH_OK && ok);
    REQUIRE(gfsmith_update(shared, LEN, 2, data[2], shards + K) == GFSMITH_OK);
  }
  free(memory);
  return NULL;
}

static void *choose(void *argument) {
  for (unsigned round = 0; round < ROUNDS; round++) {
    gfsmith_codec *codec;
    REQUIRE(gfsmith_isa() != NULL);
    REQUIRE(gfsmith_codec_create(&codec, "vandermonde", 4, 2) == GFSMITH_OK);
    gfsmith_codec_destroy(codec);
    REQUIRE(gfsmith_set_isa(argument) == GFSMITH_OK);
  }
  return NULL;
}

static void *first_call(void *argument) {
  (void)argument;
  return (void *)gfsmith_isa();
}

int main(void) {
  pthread_t threads[WORKERS];
  void *names[WORKERS];
  for (unsigned n = 0; n < WORKERS; n++)
    REQUIRE(pthread_create(&threads[n], NULL, first_call, NULL) == 0);
  for (unsigned n = 0; n < WORKERS; n++)
    REQUIRE(pthread_join(threads[n], &names[n]) == 0 && names[n] == names[0]);

  uint64_t seed = 3;
  uint8_t *reference[K + M];
  for (unsigned i = 0; i < K + M; i++)
    reference[i] = i < K ? data[i] : parity[i - K];
  for (unsigned j = 0; j < K; j++) {
    data_in[j] = data[j];
    for (unsigned b = 0; b < LEN; b++)
      data[j][b] = (uint8_t)reference_random(&seed);
  }
  reference_encode(K, M, LEN, reference);

  gfsmith_codec *shared;
  /* kernels in C, which the sanitizer instruments */
  REQUIRE(gfsmith_set_isa("scalar") == GFSMITH_OK);
  REQUIRE(gfsmith_codec_create(&shared, "cauchy", K, M) == GFSMITH_OK);
  pthread_t choosers[2];
  REQUIRE(pthread_create(&choosers[0], NULL, choose, "scalar") == 0);
  REQUIRE(pthread_create(&choosers[1], NULL, choose, names[0]) == 0);
  for (unsigned n = 0; n < WORKERS; n++)
    REQUIRE(pthread_create(&threads[n], NULL, work, shared) == 0);
  for (unsigned n = 0; n < WORKERS; n++)
    REQUIRE(pthread_join(threads[n], NULL) == 0);
  for (unsigned n = 0; n < 2; n++)
    REQUIRE(pthread_join(choosers[n], NULL) == 0);
  gfsmith_codec_destroy(shared);
  puts("ok");
  return 0;
}
