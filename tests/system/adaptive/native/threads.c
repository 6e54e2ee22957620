/* Four threads share codecs and repairs while searches begin, end and change threads all the time;
 * the bytes must be right. For ThreadSanitizer. The arguments are
 * the trace and idle_ms of its own coordinator. Without them the program uses the environment's,
 * which codecs attach automatically. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gfsmith_adaptive.h"

enum { K = 5, M = 3, SHARDS = K + M, THREADS = 4, ROUNDS = 400, LENGTH = 3072 };

static gfsmith_codec *codecs[2];
static gfsmith_adaptive *adaptive;
static uint8_t wanted[SHARDS][LENGTH];
static atomic_int wrong;

static void turn(uint8_t (*shards)[LENGTH], unsigned n) {
  static const size_t lengths[] = {1024, 1500, 1024, 3072, 1024};
  size_t len = lengths[n % 5];
  uint8_t *at[SHARDS];
  bool present[SHARDS];
  for (unsigned i = 0; i < SHARDS; i++) {
    at[i] = shards[i];
    present[i] = true;
  }
  const gfsmith_codec *codec = codecs[n % 3 == 0];
  memset(shards[K], 0, sizeof shards[0] * M);
  wrong += gfsmith_encode(codec, len, (const uint8_t *const *)at, at + K) != GFSMITH_OK;
  for (unsigned i = 0; i < M; i++)
    wrong += memcmp(shards[K + i], wanted[K + i], len) != 0;
  present[n % SHARDS] = present[(n + 3) % SHARDS] = false;
  memset(shards[n % SHARDS], 0, len);
  memset(shards[(n + 3) % SHARDS], 0, len);
  wrong += gfsmith_reconstruct(codec, len, at, present, NULL) != GFSMITH_OK;
  for (unsigned i = 0; i < SHARDS; i++)
    wrong += memcmp(shards[i], wanted[i], len) != 0;
}

static void *work(void *argument) {
  unsigned seed = *(unsigned *)argument;
  uint8_t(*shards)[LENGTH] = malloc(sizeof wanted);
  if (shards == NULL) {
    wrong++;
    return NULL;
  }
  memcpy(shards, wanted, sizeof wanted);
  for (unsigned n = 0; n < ROUNDS; n++) {
    turn(shards, n + seed);
    if (adaptive != NULL && n % 128 == 100 + seed)
      wrong += gfsmith_adaptive_force(adaptive, seed % 2 ? "row,d=9,nt" : NULL) != GFSMITH_OK;
    char text[64];
    if (adaptive != NULL && n % 16 == 0)
      gfsmith_adaptive_policy(adaptive, codecs[0], 1024, text, sizeof text);
  }
  free(shards);
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t threads[THREADS];
  unsigned seeds[THREADS];
  gfsmith_codec *plain;
  if (gfsmith_codec_create(&plain, "cauchy", K, M) != GFSMITH_OK)
    return 2;
  const uint8_t *data[K];
  uint8_t *parity[M];
  for (unsigned j = 0; j < K; j++)
    for (size_t b = 0; b < LENGTH; b++)
      wanted[j][b] = (uint8_t)((b * 131 + j * 71) >> 2);
  for (unsigned j = 0; j < K; j++)
    data[j] = wanted[j];
  for (unsigned i = 0; i < M; i++)
    parity[i] = wanted[K + i];
  gfsmith_codec_hint(plain, GFSMITH_HINT_CACHED);
  gfsmith_encode(plain, LENGTH, data, parity);
  gfsmith_adaptive_options options;
  gfsmith_adaptive_defaults(&options);
  options.sample = options.step = 1;
  options.idle_ms = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1;
  options.run = 2;
  options.run_bytes = 1;
  options.rounds = options.window = 3;
  options.patience = 0;
  options.search_calls = 40;
  options.moved = 0.01;
  options.trace = argc > 1 ? argv[1] : NULL;
  if (argc > 1 && gfsmith_adaptive_create(&adaptive, &options) != GFSMITH_OK)
    return 2;
  for (unsigned n = 0; n < 2; n++) {
    gfsmith_codec_create(&codecs[n], "cauchy", K, M);
    gfsmith_codec_hint(codecs[n], GFSMITH_HINT_STREAMING);
    if (adaptive != NULL && gfsmith_codec_adaptive(codecs[n], adaptive) != GFSMITH_OK)
      return 2;
  }
  for (unsigned n = 0; n < THREADS; n++) {
    seeds[n] = n;
    if (pthread_create(&threads[n], NULL, work, &seeds[n]) != 0)
      return 2;
  }
  for (unsigned n = 0; n < THREADS; n++)
    pthread_join(threads[n], NULL);
  gfsmith_codec_destroy(codecs[0]);
  gfsmith_codec_destroy(codecs[1]);
  gfsmith_codec_destroy(plain);
  gfsmith_adaptive_destroy(adaptive);
  puts(wrong == 0 ? "ok" : "wrong bytes");
  return wrong != 0;
}
