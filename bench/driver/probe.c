/* The speed at which this core, at its current clock, executes the instructions that bound a
 * kernel. */
#include <immintrin.h>
#include <string.h>

#include "contenders.h"

/* Independent chains: more than latency (at most 6 cycles) times throughput (at most 2 per cycle).
 * */
#define CHAINS 12
#define UNROLLED _Pragma("GCC unroll 12")

typedef void probe_fn(size_t blocks);

#define PROBE(name, features, type, start, operation)                                              \
  __attribute__((target(features))) static void name(size_t blocks) {                              \
    type x[CHAINS];                                                                                \
    const type c = start(0x1d);                                                                    \
    UNROLLED for (int n = 0; n < CHAINS; n++) x[n] = start((char)n);                               \
    for (size_t left = blocks * PROBE_OPERATIONS / CHAINS; left > 0; left--) {                     \
      UNROLLED for (int n = 0; n < CHAINS; n++) x[n] = operation;                                  \
      __asm__ volatile("" ::: "memory");                                                           \
    }                                                                                              \
    UNROLLED for (int n = 0; n < CHAINS; n++) __asm__ volatile("" ::"v"(x[n]));                    \
  }

PROBE(affine512, "gfni,avx512f,avx512bw", __m512i, _mm512_set1_epi8,
      _mm512_gf2p8affine_epi64_epi8(x[n], c, 0))
PROBE(affine256, "gfni,avx2", __m256i, _mm256_set1_epi8, _mm256_gf2p8affine_epi64_epi8(x[n], c, 0))
PROBE(shuffle512, "avx512f,avx512bw", __m512i, _mm512_set1_epi8, _mm512_shuffle_epi8(x[n], c))
PROBE(shuffle256, "avx2", __m256i, _mm256_set1_epi8, _mm256_shuffle_epi8(x[n], c))

/* A chain of additions, one in a cycle. */
static void cycles(size_t blocks) {
  size_t x = 0;
  for (size_t left = blocks * PROBE_OPERATIONS / CHAINS; left > 0; left--)
    UNROLLED for (int n = 0; n < CHAINS; n++) __asm__ volatile("add $1, %0" : "+r"(x));
}

static int always(void) { return 1; }
static int has_avx512_gfni(void) {
  return __builtin_cpu_supports("gfni") && __builtin_cpu_supports("avx512bw");
}
static int has_avx2_gfni(void) {
  return __builtin_cpu_supports("gfni") && __builtin_cpu_supports("avx2");
}
static int has_avx512(void) { return __builtin_cpu_supports("avx512bw"); }
static int has_avx2(void) { return __builtin_cpu_supports("avx2"); }

static const struct probe {
  const char *variant;
  int (*supported)(void);
  probe_fn *run;
} PROBES[] = {{"affine512", has_avx512_gfni, affine512},
              {"affine256", has_avx2_gfni, affine256},
              {"shuffle512", has_avx512, shuffle512},
              {"shuffle256", has_avx2, shuffle256},
              {"cycles", always, cycles}};

static const char *open_probe(void **out, const bench_spec *spec) {
  for (size_t n = 0; n < sizeof PROBES / sizeof *PROBES; n++)
    if (strcmp(PROBES[n].variant, spec->variant) == 0) {
      *out = (void *)&PROBES[n];
      return PROBES[n].supported() ? NULL : "not supported by this CPU";
    }
  return "no such variant";
}

static void run(void *opaque, const bench_job *job) {
  ((const struct probe *)opaque)->run(job->count);
}

static void close_probe(void *opaque) { (void)opaque; }

const peer_api probe_contender = {open_probe, run, close_probe};
