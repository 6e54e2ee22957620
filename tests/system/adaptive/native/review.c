/* Two threads encode until the coordinator has reviewed its decision TIMES times: review TRACE MS
 * TIMES. MS: its option; with 0 the threads continue for a while after the decision. Prints the
 * number of reviews. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gfsmith_adaptive.h"

enum { K = 4, M = 2, LENGTH = 256, SECONDS = 120, CALLS = 2000, AFTERWARDS = 100 };

static gfsmith_codec *codec;
static atomic_bool over;

static void *encode(void *unused) {
  uint8_t shards[K + M][LENGTH] = {{0}};
  const uint8_t *data[K];
  uint8_t *parity[M];
  (void)unused;
  for (unsigned j = 0; j < K; j++)
    data[j] = shards[j];
  for (unsigned i = 0; i < M; i++)
    parity[i] = shards[K + i];
  while (!atomic_load(&over))
    for (unsigned n = 0; n < CALLS; n++)
      if (gfsmith_encode(codec, LENGTH, data, parity) != GFSMITH_OK)
        abort();
  return NULL;
}

/* Returns the number of lines of the trace with this event. */
static unsigned events(const char *trace, const char *event) {
  char line[4096], text[64];
  unsigned count = 0;
  snprintf(text, sizeof text, "\"event\": \"%s\"", event);
  FILE *file = fopen(trace, "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    count += strstr(line, text) != NULL;
  if (file != NULL)
    fclose(file);
  return count;
}

int main(int argc, char **argv) {
  gfsmith_adaptive *adaptive;
  gfsmith_adaptive_options options;
  gfsmith_adaptive_defaults(&options);
  if (argc != 4)
    return 2;
  options.trace = argv[1];
  options.review_ms = (unsigned)atoi(argv[2]);
  unsigned times = (unsigned)atoi(argv[3]), afterwards = 0;
  options.counters = 0;
  options.sample = options.run_bytes = 1;
  options.run = 2;
  options.rounds = 3;
  options.moved = 10; /* prevents any other reason for a new search */
  if (gfsmith_adaptive_create(&adaptive, &options) != GFSMITH_OK ||
      gfsmith_codec_create(&codec, "cauchy", K, M) != GFSMITH_OK ||
      gfsmith_codec_hint(codec, GFSMITH_HINT_STREAMING) != GFSMITH_OK ||
      gfsmith_codec_adaptive(codec, adaptive) != GFSMITH_OK)
    return 2;
  pthread_t thread[2];
  for (unsigned n = 0; n < 2; n++)
    if (pthread_create(&thread[n], NULL, encode, NULL) != 0)
      return 2;
  const struct timespec pause = {.tv_nsec = 5000000};
  for (time_t end = time(NULL) + SECONDS; time(NULL) < end && afterwards < AFTERWARDS;) {
    if (options.review_ms > 0 && events(options.trace, "review") >= times)
      break;
    afterwards += options.review_ms == 0 && events(options.trace, "decide") > 0;
    nanosleep(&pause, NULL);
  }
  atomic_store(&over, true);
  for (unsigned n = 0; n < 2; n++)
    pthread_join(thread[n], NULL);
  printf("%u reviews\n", events(options.trace, "review"));
  gfsmith_codec_destroy(codec);
  gfsmith_adaptive_destroy(adaptive);
  return 0;
}
