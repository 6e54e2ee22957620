/* driver.c: ways to compute RAID parities, timed alternately.
 *
 * usage: driver CASES BYTES TURNS TRIALS SYMBOL:K:M[:TABLES] ...
 *
 * CASES: number of stripes used in rotation, 1 for cache. Prints one line per trial: nanoseconds
 * per call of each contender, in the given order. A trial times every contender once, and each
 * trial starts with another one, so that disturbances of the machine affect all equally. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "field.h"
#include "tables.h"

enum { SHARDS = 48, CONTENDERS = 64, ENTRY = 32 };

typedef void kernel(size_t, size_t, const uint8_t *, const uint8_t *const *, uint8_t *const *);

typedef struct contender {
  kernel *run;
  int (*peer)(int, int, void **); /* ISA-L's pq_gen */
  unsigned k, m;
  uint8_t tables[SHARDS * 3 * ENTRY];
} contender;

static contender all[CONTENDERS];
static uint8_t *memory;
static size_t stride, stripes, len;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void fail(const char *what, const char *name) {
  fprintf(stderr, "driver: %s: %s\n", what, name);
  exit(2);
}

static void parse(contender *c, char *text) {
  char *symbol = strtok(text, ":"), *k = strtok(NULL, ":"), *m = strtok(NULL, ":");
  char *format = strtok(NULL, ":");
  c->k = (unsigned)atoi(k);
  c->m = (unsigned)atoi(m);
  void *found = dlsym(RTLD_DEFAULT, symbol);
  if (found == NULL)
    fail("no such function", symbol);
  if (strcmp(symbol, "pq_gen") == 0)
    memcpy(&c->peer, &found, sizeof found);
  else
    memcpy(&c->run, &found, sizeof found);
  if (format == NULL)
    return;
  gfs_field field;
  gfs_field_init(&field, 0x11d);
  gfs_format kind = strcmp(format, "affine") == 0 ? GFS_FORMAT_affine : GFS_FORMAT_nibble;
  uint8_t power[3] = {1, 1, 1}, *entry = c->tables;
  for (unsigned j = 0; j < c->k; j++)
    for (unsigned i = 0; i < c->m; i++, entry += gfs_tables_entry(kind)) {
      gfs_tables_fill(kind, &field, power[i], entry);
      power[i] = gfs_field_mul(&field, power[i], (uint8_t)(1u << i));
    }
}

static double measure(const contender *c, size_t turns, size_t *stripe) {
  const uint8_t *src[SHARDS];
  uint8_t *dst[3];
  void *array[SHARDS + 3];
  double start = now();
  for (size_t n = 0; n < turns; n++) {
    uint8_t *base = memory + *stripe * stride * SHARDS;
    *stripe = (*stripe + 1) % stripes;
    for (unsigned j = 0; j < c->k; j++)
      array[j] = base + j * stride, src[j] = base + j * stride;
    for (unsigned i = 0; i < c->m; i++)
      array[c->k + i] = dst[i] = base + (c->k + i) * stride;
    if (c->peer != NULL)
      c->peer((int)(c->k + 2), (int)len, array);
    else
      c->run(len, c->k, c->tables, src, dst);
  }
  return (now() - start) / (double)turns;
}

int main(int argc, char **argv) {
  if (argc < 6 || argc - 5 > CONTENDERS)
    fail("usage", "driver CASES BYTES TURNS TRIALS SYMBOL:K:M[:TABLES] ...");
  stripes = (size_t)atol(argv[1]);
  len = (size_t)atol(argv[2]);
  size_t turns = (size_t)atol(argv[3]), trials = (size_t)atol(argv[4]), count = (size_t)argc - 5;
  stride = len + (stripes > 1 ? 0 : 64); /* in cache: shards do not share their sets */
  size_t bytes = stripes * stride * SHARDS;
  memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    fail("no memory", argv[1]);
  for (size_t n = 0; n < bytes; n++)
    memory[n] = (uint8_t)(n * 2654435761u >> 13);
  for (size_t n = 0; n < count; n++)
    parse(&all[n], argv[5 + n]);
  size_t stripe = 0;
  double *found = calloc(count, sizeof *found);
  for (size_t trial = 0; found != NULL && trial <= trials; trial++) {
    for (size_t n = 0; n < count; n++)
      found[(n + trial) % count] = measure(&all[(n + trial) % count], turns, &stripe);
    for (size_t n = 0; trial > 0 && n < count; n++) /* the first trial is the warm-up */
      printf("%.2f%c", found[n], n + 1 < count ? ' ' : '\n');
  }
  free(found);
  return 0;
}
