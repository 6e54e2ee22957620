/* dropin.c: calls of Jerasure's interface in two libraries, alternately, in one process.
 *
 * Usage: dropin OURS THEIRS. For each case it prints one row: bytes of data per second with OURS,
 * and the time of THEIRS as a multiple of it: the median of the ratios within a round, and their
 * quartiles. Above 1: OURS is faster. The shards of both are compared first. `make bench-jerasure`
 * runs it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 201, SHARDS = 24, MOST = 1 << 20, PACKET = 2048 };

typedef struct library {
  int *(*vandermonde)(int, int, int), *(*cauchy)(int, int, int), *(*bits)(int, int, int, int *);
  int **(*schedule)(int, int, int, int *);
  void (*encode)(int, int, int, int *, char **, char **, int);
  int (*decode)(int, int, int, int *, int, int *, char **, char **, int);
  void (*run)(int, int, int, int **, char **, char **, int, int);
  int *matrix, **operations;
  char *shard[SHARDS];
} library;

typedef enum work { ENCODE, DECODE, SCHEDULE } work;

typedef struct job {
  const char *name;
  work what;
  int k, m, w, size;
} job;

static library libraries[2];

static void find(void *from, const char *name, void *function) {
  void *found = dlsym(from, name);
  memcpy(function, &found, sizeof found);
}

static void load(library *l, const char *path) {
  void *from = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (from == NULL) {
    fprintf(stderr, "dropin: %s\n", dlerror());
    exit(2);
  }
  find(from, "reed_sol_vandermonde_coding_matrix", &l->vandermonde);
  find(from, "cauchy_good_general_coding_matrix", &l->cauchy);
  find(from, "jerasure_matrix_to_bitmatrix", &l->bits);
  find(from, "jerasure_smart_bitmatrix_to_schedule", &l->schedule);
  find(from, "jerasure_matrix_encode", &l->encode);
  find(from, "jerasure_matrix_decode", &l->decode);
  find(from, "jerasure_schedule_encode", &l->run);
  for (int i = 0; i < SHARDS; i++) {
    l->shard[i] = aligned_alloc(4096, MOST);
    for (int b = 0; b < MOST; b++)
      l->shard[i][b] = (char)(b * 31 + i * 7 + b / 251);
  }
}

static void prepare(library *l, const job *j) {
  if (j->what != SCHEDULE)
    l->matrix = l->vandermonde(j->k, j->m, j->w);
  else
    l->operations =
        l->schedule(j->k, j->m, j->w, l->bits(j->k, j->m, j->w, l->cauchy(j->k, j->m, j->w)));
}

static void call(library *l, const job *j) {
  int lost[] = {0, 1, j->k, -1};
  if (j->what == ENCODE)
    l->encode(j->k, j->m, j->w, l->matrix, l->shard, l->shard + j->k, j->size);
  else if (j->what == DECODE)
    l->decode(j->k, j->m, j->w, l->matrix, 1, lost, l->shard, l->shard + j->k, j->size);
  else
    l->run(j->k, j->m, j->w, l->operations, l->shard, l->shard + j->k, j->size, PACKET);
}

static double seconds(library *l, const job *j, int calls) {
  struct timespec from, to;
  clock_gettime(CLOCK_MONOTONIC, &from);
  for (int n = 0; n < calls; n++)
    call(l, j);
  clock_gettime(CLOCK_MONOTONIC, &to);
  return (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static bool same(const job *j) {
  for (int i = 0; i < j->k + j->m; i++)
    if (memcmp(libraries[0].shard[i], libraries[1].shard[i], (size_t)j->size) != 0)
      return false;
  return true;
}

static void measure(const job *j) {
  double ours[ROUNDS], ratio[ROUNDS];
  const double bytes = (double)j->k * j->size;
  for (int n = 0; n < 2; n++) {
    prepare(&libraries[n], j);
    call(&libraries[n], j);
  }
  if (!same(j)) {
    printf("%s: the libraries differ\n", j->name);
    exit(1);
  }
  const int calls = 1 + (int)(1e-4 / (seconds(&libraries[0], j, 4) / 4));
  for (int n = 0; n < ROUNDS; n++) {
    ours[n] = seconds(&libraries[0], j, calls);
    ratio[n] = seconds(&libraries[1], j, calls) / ours[n];
    ours[n] /= calls;
  }
  qsort(ours, ROUNDS, sizeof *ours, ascending);
  qsort(ratio, ROUNDS, sizeof *ratio, ascending);
  printf("| %s | %.1f | %.1f | %.1f to %.1f |\n", j->name, bytes / ours[ROUNDS / 2] * 1e-9,
         ratio[ROUNDS / 2], ratio[ROUNDS / 4], ratio[ROUNDS * 3 / 4]);
  fflush(stdout);
}

int main(int argc, char **argv) {
  static const job jobs[] = {
      {"encode 4+2, w = 8, 4 KiB", ENCODE, 4, 2, 8, 4096},
      {"encode 10+4, w = 8, 1 KiB", ENCODE, 10, 4, 8, 1024},
      {"encode 10+4, w = 8, 4 KiB", ENCODE, 10, 4, 8, 4096},
      {"encode 10+4, w = 8, 64 KiB", ENCODE, 10, 4, 8, 65536},
      {"encode 10+4, w = 8, 1 MiB", ENCODE, 10, 4, 8, 1 << 20},
      {"decode 10+4, three lost, w = 8, 4 KiB", DECODE, 10, 4, 8, 4096},
      {"decode 10+4, three lost, w = 8, 64 KiB", DECODE, 10, 4, 8, 65536},
      {"encode 10+4, w = 16, 4 KiB", ENCODE, 10, 4, 16, 4096},
      {"encode 10+4, w = 16, 64 KiB", ENCODE, 10, 4, 16, 65536},
      {"encode 10+4, w = 32, 64 KiB", ENCODE, 10, 4, 32, 65536},
      {"schedule of cauchy_good 10+4, w = 8, packets of 2 KiB, 64 KiB", SCHEDULE, 10, 4, 8, 65536},
      {"schedule of cauchy_good 6+2, w = 4, packets of 2 KiB, 64 KiB", SCHEDULE, 6, 2, 4, 65536},
  };
  if (argc != 3) {
    fprintf(stderr, "usage: dropin OURS THEIRS\n");
    return 2;
  }
  load(&libraries[0], argv[1]);
  load(&libraries[1], argv[2]);
  printf("| call | GB/s | Jerasure's time | quartiles |\n|---|---:|---:|---:|\n");
  for (size_t n = 0; n < sizeof jobs / sizeof *jobs; n++)
    measure(&jobs[n]);
  return 0;
}
