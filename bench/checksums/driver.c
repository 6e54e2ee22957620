/* driver.c: ways to get parities and the CRC-32C of all shards, timed alternately.
 *
 * usage: driver K M BYTES POOL TURNS TRIALS
 *
 * POOL: bytes of memory with the stripes, which are visited in random order; the codec then has the
 * hint STREAMING. 0: one stripe. Prints one line per trial: nanoseconds per stripe of encoding
 * alone, of one pass, of two passes, and of ISA-L's two passes. Each trial starts with another one.
 */
#define _GNU_SOURCE
#include <isa-l.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "clock.h"
#include "gfsmith_checksum.h"

enum { STAGGER = 128, CONTENDERS = 4 };

typedef struct stripe {
  uint8_t *data[GFSMITH_MAX_SHARDS], *parity[GFSMITH_MAX_SHARDS];
  uint64_t sum[GFSMITH_MAX_SHARDS];
} stripe;

static gfsmith_codec *codec;
static unsigned k, m;
static size_t len;
static unsigned char isal_tables[32 * GFSMITH_MAX_SHARDS * GFSMITH_MAX_SHARDS];

static void encode(stripe *s) {
  gfsmith_encode(codec, len, (const uint8_t *const *)s->data, s->parity);
}

static void one_pass(stripe *s) {
  memset(s->sum, 0, (k + m) * sizeof s->sum[0]);
  gfsmith_encode_checksums(codec, GFSMITH_CRC32C, len, (const uint8_t *const *)s->data, s->parity,
                           s->sum);
}

static void two_passes(stripe *s) {
  encode(s);
  memset(s->sum, 0, (k + m) * sizeof s->sum[0]);
  for (unsigned i = 0; i < k + m; i++)
    gfsmith_checksum_update(GFSMITH_CRC32C, &s->sum[i], len, i < k ? s->data[i] : s->parity[i - k]);
}

static void isal(stripe *s) {
  ec_encode_data((int)len, (int)k, (int)m, isal_tables, s->data, s->parity);
  for (unsigned i = 0; i < k + m; i++)
    s->sum[i] = ~crc32_iscsi(i < k ? s->data[i] : s->parity[i - k], (int)len, ~0u) & 0xffffffffu;
}

static void (*const contender[CONTENDERS])(stripe *) = {encode, one_pass, two_passes, isal};

static uint64_t random_next(void) {
  static uint64_t state = 88172645463325252u;
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state;
}

static uint8_t *pool_make(size_t bytes) {
  uint8_t *pool = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pool == MAP_FAILED)
    exit(2);
  madvise(pool, bytes, MADV_HUGEPAGE);
  for (size_t n = 0; n < bytes / sizeof(uint64_t); n++)
    ((uint64_t *)(void *)pool)[n] = random_next();
  return pool;
}

static void locate(stripe *s, uint8_t *at) {
  for (unsigned i = 0; i < k + m; i++, at += len + STAGGER)
    *(i < k ? &s->data[i] : &s->parity[i - k]) = at;
}

/* Do all ways give the same checksums? */
static void require_agreement(stripe *s) {
  uint64_t want[GFSMITH_MAX_SHARDS];
  two_passes(s);
  memcpy(want, s->sum, sizeof want);
  for (unsigned n = 1; n < CONTENDERS; n++) {
    for (unsigned i = 0; i < m; i++)
      memset(s->parity[i], 0xa5, len);
    contender[n](s);
    if (memcmp(want, s->sum, (k + m) * sizeof want[0]) != 0) {
      fprintf(stderr, "driver: contender %u has other checksums\n", n);
      exit(2);
    }
  }
}

int main(int argc, char **argv) {
  if (argc != 7)
    return 2;
  k = (unsigned)atoi(argv[1]), m = (unsigned)atoi(argv[2]);
  len = (size_t)atol(argv[3]);
  size_t size = (k + m) * (len + STAGGER), stripes = (size_t)atol(argv[4]) / size;
  stripes += stripes == 0;
  int turns = atoi(argv[5]), trials = atoi(argv[6]);
  unsigned char matrix[GFSMITH_MAX_SHARDS * GFSMITH_MAX_SHARDS];
  gf_gen_cauchy1_matrix(matrix, (int)(k + m), (int)k);
  ec_init_tables((int)k, (int)m, matrix + k * k, isal_tables);
  if (gfsmith_codec_create(&codec, "cauchy", k, m) != GFSMITH_OK)
    return 2;
  gfsmith_codec_hint(codec, stripes > 1 ? GFSMITH_HINT_STREAMING : GFSMITH_HINT_AUTO);
  uint8_t *pool = pool_make(stripes * size);
  stripe s;
  locate(&s, pool);
  require_agreement(&s);
  for (int trial = 0; trial < trials; trial++) {
    double ns[CONTENDERS];
    for (int n = 0; n < CONTENDERS; n++) {
      int who = (trial + n) % CONTENDERS;
      double start = now();
      for (int turn = 0; turn < turns; turn++) {
        locate(&s, pool + random_next() % stripes * size);
        contender[who](&s);
      }
      ns[who] = (now() - start) / turns;
    }
    for (int n = 0; n < CONTENDERS; n++)
      printf("%.1f%c", ns[n], n + 1 < CONTENDERS ? ' ' : '\n');
  }
  gfsmith_codec_destroy(codec);
  return 0;
}
