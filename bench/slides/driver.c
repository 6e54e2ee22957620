/* driver.c: gfsmith's encoding and ISA-L's functions on one large stripe, timed alternately.
 *
 * usage: driver BYTES TRIALS CODE:K:M:PEER
 *
 * BYTES: all shards together; more than the last-level cache, so that every pass over the stripe
 * comes from memory. PEER: the function of ISA-L: ec (with CODE's matrix), pq or xor. The driver
 * first compares the parities of all contenders. It then prints one line per trial: nanoseconds of
 * processor time of gfsmith without a hint, of gfsmith with the streaming hint, and of ISA-L. Each
 * trial begins with another contender, so that disturbances of the machine affect all equally. */
#define _GNU_SOURCE
#include <isa-l.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "gfsmith.h"

enum { SHARDS = 32, ENTRY = 32, CONTENDERS = 3, ALIGNMENT = 64, STAGGER = 128 };

typedef struct stripe {
  size_t len;
  unsigned k, m;
  uint8_t *shards[SHARDS];
  gfsmith_codec *plain, *streaming;
  const char *peer;
  uint8_t tables[SHARDS * SHARDS * ENTRY];
} stripe;

static stripe all;

static void fail(const char *what, const char *name) {
  fprintf(stderr, "driver: %s: %s\n", what, name);
  exit(2);
}

static gfsmith_codec *codec(const char *code, gfsmith_hint hint) {
  gfsmith_codec *made = NULL;
  if (gfsmith_codec_create(&made, code, all.k, all.m) != GFSMITH_OK)
    fail("no such code", code);
  if (gfsmith_codec_hint(made, hint) != GFSMITH_OK)
    fail("no such hint", code);
  return made;
}

/* The parity matrix of the codec, from the parities of unit vectors, in ISA-L's format. */
static void prepare_tables(void) {
  uint8_t matrix[SHARDS * SHARDS], data[SHARDS][1] = {{0}}, parity[SHARDS][1];
  const uint8_t *from[SHARDS];
  uint8_t *to[SHARDS];
  for (unsigned n = 0; n < SHARDS; n++) {
    from[n] = data[n];
    to[n] = parity[n];
  }
  for (unsigned j = 0; j < all.k; j++) {
    data[j][0] = 1;
    if (gfsmith_encode(all.plain, 1, from, to) != GFSMITH_OK)
      fail("no encoding", "unit vector");
    for (unsigned i = 0; i < all.m; i++)
      matrix[i * all.k + j] = parity[i][0];
    data[j][0] = 0;
  }
  ec_init_tables((int)all.k, (int)all.m, matrix, all.tables);
}

static void encode(unsigned contender) {
  int wrong;
  if (contender < 2) {
    const gfsmith_codec *own = contender == 0 ? all.plain : all.streaming;
    wrong = gfsmith_encode(own, all.len, (const uint8_t *const *)all.shards, all.shards + all.k);
  } else if (strcmp(all.peer, "ec") == 0) {
    ec_encode_data((int)all.len, (int)all.k, (int)all.m, all.tables, all.shards,
                   all.shards + all.k);
    wrong = 0;
  } else if (strcmp(all.peer, "pq") == 0) {
    wrong = pq_gen((int)(all.k + all.m), (int)all.len, (void **)all.shards);
  } else {
    wrong = xor_gen((int)(all.k + all.m), (int)all.len, (void **)all.shards);
  }
  if (wrong != 0)
    fail("a contender reports an error", all.peer);
}

static void allocate(size_t bytes) {
  all.len = bytes / (all.k + all.m) / ALIGNMENT * ALIGNMENT;
  size_t size = (all.len + STAGGER) * (all.k + all.m);
  uint8_t *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || all.len == 0 || all.len > INT32_MAX)
    fail("no memory of this size", "BYTES");
  (void)madvise(memory, size, MADV_HUGEPAGE);
  uint32_t random = 1;
  for (size_t n = 0; n < size; n++) {
    random = random * 1664525u + 1013904223u;
    memory[n] = (uint8_t)(random >> 24);
  }
  for (unsigned n = 0; n < all.k + all.m; n++)
    all.shards[n] = memory + n * (all.len + STAGGER);
}

static void compare(void) {
  size_t size = all.len * all.m;
  uint8_t *first = malloc(size);
  if (first == NULL)
    fail("no memory of this size", "BYTES");
  for (unsigned contender = 0; contender < CONTENDERS; contender++) {
    for (unsigned i = 0; i < all.m && contender > 0; i++)
      memset(all.shards[all.k + i], 0, all.len);
    encode(contender);
    for (unsigned i = 0; i < all.m; i++) {
      const uint8_t *parity = all.shards[all.k + i];
      if (contender == 0)
        memcpy(first + i * all.len, parity, all.len);
      else if (memcmp(first + i * all.len, parity, all.len) != 0)
        fail("the parities differ", all.peer);
    }
  }
  free(first);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

int main(int argc, char **argv) {
  if (argc != 4)
    fail("usage", "driver BYTES TRIALS CODE:K:M:PEER");
  const char *code = strtok(argv[3], ":"), *k = strtok(NULL, ":"), *m = strtok(NULL, ":");
  all.peer = strtok(NULL, ":");
  if (all.peer == NULL ||
      (strcmp(all.peer, "ec") && strcmp(all.peer, "pq") && strcmp(all.peer, "xor")))
    fail("no such function; allowed: ec, pq, xor", all.peer ? all.peer : "none");
  all.k = (unsigned)atoi(k);
  all.m = (unsigned)atoi(m);
  if (all.k + all.m > SHARDS)
    fail("too many shards", argv[3]);
  all.plain = codec(code, GFSMITH_HINT_AUTO);
  all.streaming = codec(code, GFSMITH_HINT_STREAMING);
  prepare_tables();
  allocate((size_t)atol(argv[1]));
  compare();
  long trials = atol(argv[2]);
  for (long trial = 0; trial < trials; trial++) {
    double found[CONTENDERS];
    for (unsigned n = 0; n < CONTENDERS; n++) {
      unsigned contender = (unsigned)(n + trial) % CONTENDERS;
      double start = now();
      encode(contender);
      found[contender] = now() - start;
    }
    printf("%.0f %.0f %.0f\n", found[0], found[1], found[2]);
  }
  gfsmith_codec_destroy(all.plain);
  gfsmith_codec_destroy(all.streaming);
  return 0;
}
