/* dropin.c: calls of ISA-L's interface in several libraries, alternately, in one process.
 *
 * Usage: dropin OURS OTHER ... ; "codec:PATH" is libgfsmith.so, whose gfsmith_encode replaces
 * ec_encode_data. For each shape and length it prints one row: bytes of data per second with OURS,
 * and for each other library its time as a multiple of the time of OURS: the median of the ratios
 * within a round, and their quartiles. Above 1: OURS is faster. `make bench-isal` runs it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gfsmith.h"

typedef unsigned char byte;

enum { LIBRARIES = 4, ROUNDS = 61, SHARDS = 128, MOST = 48 << 20 };

typedef struct library {
  void (*tables)(int, int, byte *, byte *);
  void (*encode)(int, int, int, byte *, byte **, byte **);
  void (*update)(int, int, int, int, byte *, byte *, byte **);
  int (*pq)(int, int, void **);
  int (*xor)(int, int, void **);
  unsigned (*iscsi)(byte *, int, unsigned);
  uint64_t (*ecma)(uint64_t, const byte *, uint64_t);
  uint16_t (*t10)(uint16_t, const byte *, uint64_t);
  gfsmith_status (*create)(gfsmith_codec **, unsigned, unsigned, unsigned, const uint8_t *);
  gfsmith_status (*codec_encode)(const gfsmith_codec *, size_t, const uint8_t *const *,
                                 uint8_t *const *);
  gfsmith_codec *codec;
  byte table[32 * SHARDS * SHARDS / 4];
} library;

typedef enum work { ENCODE, UPDATE, PQ, XOR, ISCSI, ECMA, T10 } work;

/* matrix: 'v' and 'c' are ISA-L's two codes, for some shapes of which there are kernels; 'r' is
 * random. */
typedef struct job {
  work what;
  char matrix;
  int k, m;
} job;

static library libraries[LIBRARIES];
static byte *shards[SHARDS];
static volatile uint64_t result; /* of a check, so that no compiler omits the call */

static void find(void *from, const char *name, void *function) {
  void *found = dlsym(from, name);
  memcpy(function, &found, sizeof found);
}

static void load(library *l, const char *path) {
  const char *file = strncmp(path, "codec:", 6) == 0 ? path + 6 : path;
  void *from = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (from == NULL) {
    fprintf(stderr, "dropin: %s\n", dlerror());
    exit(2);
  }
  find(from, "ec_init_tables", &l->tables);
  find(from, "ec_encode_data", &l->encode);
  find(from, "ec_encode_data_update", &l->update);
  find(from, "pq_gen", &l->pq);
  find(from, "xor_gen", &l->xor);
  find(from, "crc32_iscsi", &l->iscsi);
  find(from, "crc64_ecma_refl", &l->ecma);
  find(from, "crc16_t10dif", &l->t10);
  find(from, "gfsmith_codec_create_matrix", &l->create);
  find(from, "gfsmith_encode", &l->codec_encode);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void call(library *l, const job *j, int len) {
  byte **parity = shards + j->k;
  if (l->codec != NULL)
    l->codec_encode(l->codec, (size_t)len, (const uint8_t *const *)shards, parity);
  else if (j->what == ENCODE)
    l->encode(len, j->k, j->m, l->table, shards, parity);
  else if (j->what == PQ)
    l->pq(j->k + 2, len, (void **)shards);
  else if (j->what == XOR)
    l->xor (j->k + 1, len, (void **)shards);
  else if (j->what == ISCSI)
    result = l->iscsi(shards[0], len, 0);
  else if (j->what == ECMA)
    result = l->ecma(0, shards[0], (uint64_t)len);
  else if (j->what == T10)
    result = l->t10(0, shards[0], (uint64_t)len);
  else
    for (int n = 0; n < j->k; n++)
      l->update(len, j->k, j->m, n, l->table, shards[n], parity);
}

/* 1 if a library supports the job, which is then prepared; otherwise 0. */
static int ready(library *l, const job *j, const byte *parity) {
  l->codec = NULL;
  if (l->create != NULL)
    return j->what == ENCODE && l->create(&l->codec, GFSMITH_POLYNOMIAL, (unsigned)j->k,
                                          (unsigned)j->m, parity) == GFSMITH_OK;
  if (j->what >= ISCSI)
    return l->iscsi != NULL && l->ecma != NULL && l->t10 != NULL;
  l->tables(j->k, j->m, (byte *)parity, l->table);
  return 1;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void measure(const job *j, int len, int count, const byte *parity) {
  static double seconds[LIBRARIES][ROUNDS];
  int can[LIBRARIES];
  long calls = 1 + (long)(1e6 / (50 + 0.04 * len * j->k * (j->m > 2 ? j->m : 2) / 2));
  for (int n = 0; n < count; n++)
    can[n] = ready(&libraries[n], j, parity);
  for (int round = 0; round < ROUNDS; round++)
    for (int turn = 0; turn < count; turn++) {
      int n = round % 2 == 0 ? turn : count - 1 - turn; /* alternating order */
      if (can[n])
        call(&libraries[n], j,
             len); /* untimed: replaces the previous library's data in the caches */
      double begin = now();
      for (long c = 0; can[n] && c < calls; c++)
        call(&libraries[n], j, len);
      seconds[n][round] = (now() - begin) / (double)calls;
    }
  for (int n = count - 1; n >= 0; n--)
    for (int round = 0; round < ROUNDS && n > 0; round++)
      seconds[n][round] /= seconds[0][round];
  qsort(seconds[0], ROUNDS, sizeof(double), ascending);
  printf("| %d B | %.1f |", len, 1e-9 * len * j->k / seconds[0][ROUNDS / 2]);
  for (int n = 1; n < count; n++) {
    qsort(seconds[n], ROUNDS, sizeof(double), ascending);
    const double *s = seconds[n];
    if (can[n])
      printf(" %.2f (%.2f-%.2f) |", s[ROUNDS / 2], s[ROUNDS / 4], s[ROUNDS * 3 / 4]);
    else
      printf(" |");
  }
  puts("");
  fflush(stdout);
}

static void fill(const job *j, byte *parity) {
  gfsmith_codec *codec = NULL;
  for (int n = 0; n < j->m * j->k; n++)
    parity[n] = (byte)(rand() | 2);
  byte unit[SHARDS][1], *out[SHARDS];
  const uint8_t *in[SHARDS];
  const char *code = j->matrix == 'v' ? "vandermonde" : "cauchy";
  if (j->matrix == 'r' || gfsmith_codec_create(&codec, code, (unsigned)j->k, (unsigned)j->m) != 0)
    return;
  for (int column = 0; column < j->k; column++) { /* encoded units are the columns */
    byte column_of[SHARDS];
    for (int n = 0; n < j->k; n++)
      (in[n] = unit[n]), (unit[n][0] = n == column);
    for (int i = 0; i < j->m; i++)
      out[i] = column_of + i;
    gfsmith_encode(codec, 1, in, out);
    for (int i = 0; i < j->m; i++)
      parity[i * j->k + column] = column_of[i];
  }
  gfsmith_codec_destroy(codec);
}

int main(int arguments, char **argument) {
  static const job jobs[] = {{ENCODE, 'c', 10, 4}, {ENCODE, 'v', 4, 2},    {ENCODE, 'r', 10, 4},
                             {ENCODE, 'r', 10, 1}, {ENCODE, 'r', 10, 2},   {ENCODE, 'r', 10, 3},
                             {ENCODE, 'r', 10, 6}, {ENCODE, 'r', 6, 4},    {ENCODE, 'r', 20, 4},
                             {ENCODE, 'r', 48, 4}, {ENCODE, 'r', 100, 20}, {UPDATE, 'r', 10, 4},
                             {PQ, 'r', 10, 2},     {XOR, 'r', 10, 1},      {ISCSI, 'r', 1, 0},
                             {ECMA, 'r', 1, 0},    {T10, 'r', 1, 0}};
  static const char *const names[] = {"encode",      "update, all sources", "pq_gen",
                                      "xor_gen",     "crc32_iscsi",         "crc64_ecma_refl",
                                      "crc16_t10dif"};
  static const int lengths[] = {64, 512, 1024, 4096, 8192, 65536, 1 << 20};
  int count = arguments - 1;
  if (count < 2 || count > LIBRARIES)
    return fprintf(stderr, "usage: dropin OURS OTHER ... (at most %d)\n", LIBRARIES), 2;
  for (int n = 0; n < count; n++)
    load(&libraries[n], argument[n + 1]);
  byte *memory = aligned_alloc(4096, (size_t)MOST), parity[SHARDS * SHARDS / 4];
  memset(memory, 7, (size_t)MOST);
  for (size_t n = 0; n < sizeof jobs / sizeof *jobs; n++)
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
      const job *j = &jobs[n];
      size_t stride = (size_t)lengths[l] + 64; /* no two at the same place of a page */
      if (stride * (size_t)(j->k + j->m) > MOST)
        continue;
      for (int s = 0; s < j->k + j->m; s++)
        shards[s] = memory + (size_t)s * stride;
      fill(j, parity);
      printf("| %d+%d %s, matrix %c ", j->k, j->m, names[j->what], j->matrix);
      measure(j, lengths[l], count, parity);
    }
  return 0;
}
