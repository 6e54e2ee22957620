/* driver.c: ways to get parities and the CRC-32C of all shards, timed alternately.
 *
 * usage: driver K M BYTES POOL TURNS TRIALS PEER
 *
 * POOL: bytes of memory with the stripes, which are visited in random order; the codec then has the
 * hint STREAMING. 0: one stripe. Prints one line per trial: nanoseconds per stripe of encoding
 * alone, of one pass, of two passes, and of the two passes of ISA-L and of PEER, the library of
 * klauspost/reedsolomon (peer.h). Each trial starts with another one.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <isa-l.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "clock.h"
#include "gfsmith_checksum.h"
#include "peer.h"

enum { STAGGER = 128, OWN = 4, CONTENDERS = OWN + 1 };

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

static void (*const contender[OWN])(stripe *) = {encode, one_pass, two_passes, isal};

/* The peer, whose loop over stripes is its own. */
static struct {
  void *made;
  peer_run_fn *run;
  peer_sums_fn *sums;
} go;

static void open_peer(const char *path, const uint8_t *matrix) {
  void *library = dlopen(path, RTLD_NOW);
  peer_open_fn *open = library != NULL ? (peer_open_fn *)dlsym(library, "peer_open") : NULL;
  const bench_spec spec = {"checksums", "", matrix, k, m, len};
  const char *why = open != NULL ? open(&go.made, &spec) : dlerror();
  if (why != NULL) {
    fprintf(stderr, "driver: %s\n", why);
    exit(2);
  }
  go.run = (peer_run_fn *)dlsym(library, "peer_run");
  go.sums = (peer_sums_fn *)dlsym(library, "peer_sums");
}

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

/* Run a contender on random stripes. */
static void run(unsigned who, stripe *s, uint8_t *pool, size_t stripes, unsigned turns) {
  static uint32_t order[1 << 16];
  for (unsigned turn = 0; turn < turns; turn++)
    order[turn] = (uint32_t)(random_next() % stripes);
  if (who == OWN) {
    const bench_job job = {pool, order, turns, len, len + STAGGER, k, m};
    go.run(go.made, &job);
    return;
  }
  for (unsigned turn = 0; turn < turns; turn++) {
    locate(s, pool + order[turn] * (k + m) * (len + STAGGER));
    contender[who](s);
  }
}

/* Do all ways give the same checksums? */
static void require_agreement(stripe *s, uint8_t *pool) {
  uint64_t want[GFSMITH_MAX_SHARDS];
  run(2, s, pool, 1, 1);
  memcpy(want, s->sum, sizeof want);
  for (unsigned n = 1; n < CONTENDERS; n++) {
    for (unsigned i = 0; i < m; i++)
      memset(s->parity[i], 0xa5, len);
    run(n, s, pool, 1, 1);
    if (n == OWN)
      go.sums(go.made, s->sum);
    if (memcmp(want, s->sum, (k + m) * sizeof want[0]) != 0) {
      fprintf(stderr, "driver: contender %u has other checksums\n", n);
      exit(2);
    }
  }
}

int main(int argc, char **argv) {
  if (argc != 8)
    return 2;
  k = (unsigned)atoi(argv[1]), m = (unsigned)atoi(argv[2]);
  len = (size_t)atol(argv[3]);
  size_t size = (k + m) * (len + STAGGER), stripes = (size_t)atol(argv[4]) / size;
  stripes += stripes == 0;
  unsigned turns = (unsigned)atoi(argv[5]);
  int trials = atoi(argv[6]);
  unsigned char matrix[GFSMITH_MAX_SHARDS * GFSMITH_MAX_SHARDS];
  gf_gen_cauchy1_matrix(matrix, (int)(k + m), (int)k);
  ec_init_tables((int)k, (int)m, matrix + k * k, isal_tables);
  if (gfsmith_codec_create(&codec, "cauchy", k, m) != GFSMITH_OK)
    return 2;
  gfsmith_codec_hint(codec, stripes > 1 ? GFSMITH_HINT_STREAMING : GFSMITH_HINT_AUTO);
  uint8_t *pool = pool_make(stripes * size);
  open_peer(argv[7], matrix + k * k);
  stripe s;
  require_agreement(&s, pool);
  for (int trial = 0; trial < trials; trial++) {
    double ns[CONTENDERS];
    for (int n = 0; n < CONTENDERS; n++) {
      int who = (trial + n) % CONTENDERS;
      double start = now();
      run((unsigned)who, &s, pool, stripes, turns);
      ns[who] = (now() - start) / turns;
    }
    for (int n = 0; n < CONTENDERS; n++)
      printf("%.1f%c", ns[n], n + 1 < CONTENDERS ? ' ' : '\n');
  }
  gfsmith_codec_destroy(codec);
  return 0;
}
