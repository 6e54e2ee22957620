/* left fork|cancel|alternate TRACE SECONDS: a thread searches; while it works on the search, the
 * program forks, or cancels the thread. Afterwards the main thread, or that of the child, encodes
 * and must end a search of the same cell within so many seconds. (`alternate` has no second
 * thread.) The moment comes when the coordinator writes the result of a trial to the trace: link
 * with --wrap=fwrite. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "coordinator.h"

enum { K = 5, M = 3, LENGTH = 2048 };

static gfsmith_codec *codec;
static gfsmith_adaptive *adaptive;
static uint8_t data[K][LENGTH], parity[2][M][LENGTH];
static sem_t reached, passed;
static bool held;
static int seconds;

static void encode(uint8_t (*into)[LENGTH]) {
  const uint8_t *in[K] = {data[0], data[1], data[2], data[3], data[4]};
  uint8_t *out[M] = {into[0], into[1], into[2]};
  if (gfsmith_encode(codec, LENGTH, in, out) != GFSMITH_OK)
    abort();
}

size_t __real_fwrite(const void *from, size_t size, size_t count, FILE *file);
size_t __wrap_fwrite(const void *from, size_t size, size_t count, FILE *file);

size_t __wrap_fwrite(const void *from, size_t size, size_t count, FILE *file) {
  if (!held && strstr(from, "\"decide\"") != NULL) {
    held = true;
    sem_post(&reached);
    sem_wait(&passed);
  }
  return __real_fwrite(from, size, count, file);
}

/* The cell of the calls. */
static gfs_cell *cell_of_calls(void) {
  for (unsigned n = 0; n < GFS_CELLS; n++)
    if (atomic_load(&adaptive->cells.cell[n].key) != 0)
      return &adaptive->cells.cell[n];
  abort();
}

static void *search(void *none) {
  (void)none;
  while (!held)
    encode(parity[1]);
  pause(); /* until it is cancelled or the program ends */
  return NULL;
}

/* Does a search end in the cell? */
static bool ends(void) {
  gfs_cell *cell = cell_of_calls();
  uint32_t before = atomic_load(&cell->searches);
  time_t start = time(NULL);
  while (atomic_load(&cell->searches) == before && time(NULL) - start <= seconds)
    encode(parity[0]);
  return atomic_load(&cell->searches) != before;
}

static int in_child(void) {
  pid_t child = fork();
  if (child == 0)
    _exit(!ends());
  int status = 1;
  waitpid(child, &status, 0);
  sem_post(&passed);
  return status;
}

static int after_cancellation(pthread_t thread) {
  pthread_cancel(thread);
  sem_post(&passed);
  pthread_join(thread, NULL);
  return !ends();
}

/* Does a thread that alternates between two coordinators register with the first one only once? */
static int alternate(void) {
  gfsmith_adaptive *coordinators[2] = {adaptive, NULL};
  uint32_t before = atomic_load(&adaptive->contention.tickets);
  if (gfsmith_adaptive_create(&coordinators[1], NULL) != GFSMITH_OK)
    return 2;
  for (unsigned n = 0; n < 100; n++) {
    if (gfsmith_codec_adaptive(codec, coordinators[n % 2]) != GFSMITH_OK)
      return 2;
    encode(parity[0]);
  }
  return atomic_load(&adaptive->contention.tickets) != before + 1;
}

static gfsmith_status begin(const char *trace) {
  gfsmith_adaptive_options options;
  gfsmith_adaptive_defaults(&options);
  options.sample = options.step = options.idle_ms = 1;
  options.run = 2;
  options.run_bytes = 1;
  options.rounds = options.window = 3;
  options.review_ms = 1; /* a search that has ended is repeated at once */
  options.counters = 0;
  options.trace = trace;
  gfsmith_status status = gfsmith_adaptive_create(&adaptive, &options);
  if (status == GFSMITH_OK)
    status = gfsmith_codec_create(&codec, "cauchy", K, M);
  if (status == GFSMITH_OK)
    status = gfsmith_codec_hint(codec, GFSMITH_HINT_STREAMING);
  return status == GFSMITH_OK ? gfsmith_codec_adaptive(codec, adaptive) : status;
}

int main(int argc, char **argv) {
  pthread_t thread;
  if (argc == 4 && strcmp(argv[1], "alternate") == 0) {
    int wrong = begin(NULL) != GFSMITH_OK || alternate() != 0;
    puts(wrong ? "registers again" : "ok");
    return wrong;
  }
  if (argc != 4 || (seconds = atoi(argv[3])) < 1 || begin(argv[2]) != GFSMITH_OK ||
      sem_init(&reached, 0, 0) != 0 || sem_init(&passed, 0, 0) != 0 ||
      pthread_create(&thread, NULL, search, NULL) != 0)
    return 2;
  sem_wait(&reached);
  int status = strcmp(argv[1], "fork") == 0 ? in_child() : after_cancellation(thread);
  puts(status == 0 ? "ok" : "no search ends");
  return status != 0;
}
