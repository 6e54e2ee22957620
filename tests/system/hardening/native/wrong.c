/* wrong: programs that misuse the library. Each sanitizer must detect one of them in the library's
 * own code. Argument: bounds, leak, undefined, race or type. */
#include <gfsmith.h>
#include <gfsmith_parallel.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEN = 100 };

static gfsmith_codec *codec;

/* A parity that is one byte too short. */
static void bounds(void) {
  uint8_t a[LEN] = {1}, b[LEN] = {2};
  uint8_t *parity = malloc(LEN - 1);
  const uint8_t *data[2] = {a, b};
  gfsmith_encode(codec, LEN, data, &parity);
  free(parity);
}

/* Codecs that are never destroyed. */
static void leak(void) {
  gfsmith_codec *forgotten;
  for (int n = 0; n < 4; n++)
    gfsmith_codec_create(&forgotten, "cauchy", 3, 2);
}

static void undefined(void) {
  volatile int most = INT_MAX;
  printf("%d\n", most + 1);
}

/* The hint must be set before a codec is shared. */
static void *hint(void *argument) {
  (void)argument;
  for (int n = 0; n < 1000; n++)
    gfsmith_codec_hint(codec, (gfsmith_hint)(n % 3));
  return NULL;
}

static void race(void) {
  pthread_t threads[2];
  for (int n = 0; n < 2; n++)
    if (pthread_create(&threads[n], NULL, hint, NULL) != 0)
      exit(2);
  for (int n = 0; n < 2; n++)
    pthread_join(threads[n], NULL);
}

static int idle(void) { return 0; }

/* An executor whose function has another type. */
static void type(void) {
  static uint8_t a[100 * LEN], b[100 * LEN], parity[100 * LEN];
  gfsmith_executor executor = {.workers = 2, .least = 1};
  int (*other)(void) = idle;
  memcpy(&executor.run, &other, sizeof other);
  gfsmith_encode_parallel(codec, &executor, sizeof a, (const uint8_t *const[]){a, b},
                          (uint8_t *const[]){parity});
}

int main(int argc, char **argv) {
  if (argc != 2 || gfsmith_codec_create(&codec, "cauchy", 2, 1) != GFSMITH_OK)
    return 2;
  if (strcmp(argv[1], "bounds") == 0)
    bounds();
  else if (strcmp(argv[1], "leak") == 0)
    leak();
  else if (strcmp(argv[1], "undefined") == 0)
    undefined();
  else if (strcmp(argv[1], "race") == 0)
    race();
  else if (strcmp(argv[1], "type") == 0)
    type();
  gfsmith_codec_destroy(codec);
  puts("ok");
  return 0;
}
