/* Products of bytes, polynomials and 8 x 8 bit matrices with AVX2 and without GFNI: the "legacy"
 * instructions with which the GFNI paper compares (its figure 1), as contenders for those functions
 * of gfsmith_algebra.h. The driver compares their results with gfsmith's.
 *
 * Both operands vary, so there are no nibble tables; the second factor is processed bit by bit. The
 * compiler allocates registers and schedules. A build for another machine has none of them. */
#include <stdlib.h>
#include <string.h>

#include "contenders.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))
#define INLINE static inline __attribute__((always_inline, target("avx2")))

typedef void operation_fn(size_t len, const uint8_t *a, const uint8_t *b, uint8_t *out);

enum { LANES = 32, FIELD_LOW = 0x1d };

INLINE __m256i load(const uint8_t *at) {
  return _mm256_loadu_si256((const __m256i *)(const void *)at);
}

INLINE void store(uint8_t *at, __m256i v) { _mm256_storeu_si256((__m256i *)(void *)at, v); }

/* 2 x modulo 0x11d: addition doubles, and the sign of a byte selects the polynomial. */
INLINE __m256i doubled(__m256i x) {
  __m256i top = _mm256_cmpgt_epi8(_mm256_setzero_si256(), x);
  __m256i low = _mm256_and_si256(top, _mm256_set1_epi8(FIELD_LOW));
  return _mm256_xor_si256(_mm256_add_epi8(x, x), low);
}

/* x y: Horner's rule over the bits of y from the highest one, which vpblendvb takes from the sign.
 */
INLINE __m256i product(__m256i x, __m256i y) {
  __m256i total = _mm256_setzero_si256();
  for (unsigned bit = 0; bit < 8; bit++) {
    __m256i term = _mm256_blendv_epi8(_mm256_setzero_si256(), x, y);
    total = bit == 0 ? term : _mm256_xor_si256(doubled(total), term);
    y = _mm256_add_epi8(y, y);
  }
  return total;
}

AVX2 static void multiply(size_t len, const uint8_t *a, const uint8_t *b, uint8_t *out) {
  for (size_t at = 0; at < len; at += LANES)
    store(out + at, product(load(a + at), load(b + at)));
}

/* x^254 = (x^15)^16 x^12 x^2 in eleven products, as in the portable routine. */
AVX2 static void invert(size_t len, const uint8_t *a, const uint8_t *b, uint8_t *out) {
  (void)b;
  for (size_t at = 0; at < len; at += LANES) {
    __m256i x1 = load(a + at), x2 = product(x1, x1), x3 = product(x2, x1);
    __m256i x6 = product(x3, x3), x12 = product(x6, x6), power = product(x12, x3);
    for (unsigned n = 0; n < 4; n++)
      power = product(power, power);
    store(out + at, product(product(power, x12), x2));
  }
}

/* Indices for vpshufb that repeat byte i of every group of 8 bytes, or of 16. */
INLINE __m256i repeated(unsigned group, int i) {
  long long second = group == 8 ? 0x0808080808080808 : 0;
  return _mm256_add_epi8(_mm256_set_epi64x(second, 0, second, 0), _mm256_set1_epi8((char)i));
}

/* The first 16 coefficients of the modulus with which algebra.c calls gfsmith; the others are 0. */
INLINE __m256i modulus(unsigned degree) {
  const long long low = 0x0001000007000003;
  return _mm256_set_epi64x(degree == 8 ? low : 0, degree < 32 ? low : 0, degree == 8 ? low : 0,
                           low);
}

/* Polynomials of 8 or 16 coefficients, 4 or 2 in a vector, by the paper's order: T <- y T + t P' +
 * a_i B from the highest i, t the top coefficient of T. */
INLINE void polynomials(int degree, size_t len, const uint8_t *a, const uint8_t *b, uint8_t *out) {
  for (size_t at = 0; at < len; at += LANES) {
    __m256i x = load(a + at), y = load(b + at), total = _mm256_setzero_si256();
    for (int i = degree - 1; i >= 0; i--) {
      __m256i top = _mm256_shuffle_epi8(total, repeated((unsigned)degree, degree - 1));
      total = degree == 8 ? _mm256_slli_epi64(total, 8) : _mm256_slli_si256(total, 1);
      total = _mm256_xor_si256(total, product(modulus((unsigned)degree), top));
      __m256i one = _mm256_shuffle_epi8(x, repeated((unsigned)degree, i));
      total = _mm256_xor_si256(total, product(y, one));
    }
    store(out + at, total);
  }
}

AVX2 static void polynomials8(size_t len, const uint8_t *a, const uint8_t *b, uint8_t *out) {
  polynomials(8, len, a, b, out);
}

AVX2 static void polynomials16(size_t len, const uint8_t *a, const uint8_t *b, uint8_t *out) {
  polynomials(16, len, a, b, out);
}

/* One polynomial in a vector; bytes cross its halves by vperm2i128. */
AVX2 static void polynomials32(size_t len, const uint8_t *a, const uint8_t *b, uint8_t *out) {
  for (size_t at = 0; at < len; at += LANES) {
    __m256i y = load(b + at), total = _mm256_setzero_si256();
    for (unsigned i = LANES; i-- > 0;) {
      __m256i high = _mm256_permute2x128_si256(total, total, 0x11);
      __m256i top = _mm256_shuffle_epi8(high, _mm256_set1_epi8(15));
      __m256i low = _mm256_permute2x128_si256(total, total, 0x08);
      total = _mm256_xor_si256(_mm256_alignr_epi8(total, low, 15), product(modulus(32), top));
      total = _mm256_xor_si256(total, product(y, _mm256_set1_epi8((char)a[at + i])));
    }
    store(out + at, total);
  }
}

/* Four products of 8 x 8 bit matrices in a vector, a row in each byte: row r of the product is the
 * sum of the rows of B that the bits of row r of A select. */
AVX2 static void matrices8(size_t len, const uint8_t *a, const uint8_t *b, uint8_t *out) {
  for (size_t at = 0; at < len; at += LANES) {
    __m256i x = load(a + at), y = load(b + at), total = _mm256_setzero_si256();
    for (int row = 7; row >= 0; row--) {
      __m256i rows = _mm256_shuffle_epi8(y, repeated(8, row));
      total = _mm256_xor_si256(total, _mm256_blendv_epi8(_mm256_setzero_si256(), rows, x));
      x = _mm256_add_epi8(x, x);
    }
    store(out + at, total);
  }
}

/* Four rows of a product of 64 x 64 matrices in a vector, in the same way. */
AVX2 static void matrices64(size_t len, const uint8_t *a, const uint8_t *b, uint8_t *out) {
  for (size_t at = 0; at < len; at += LANES) {
    const uint8_t *rows = b + at / 512 * 512;
    __m256i x = load(a + at), total = _mm256_setzero_si256();
    for (unsigned row = 64; row-- > 0;) {
      long long word;
      memcpy(&word, rows + 8 * row, sizeof word);
      __m256d selected =
          _mm256_blendv_pd(_mm256_setzero_pd(), _mm256_castsi256_pd(_mm256_set1_epi64x(word)),
                           _mm256_castsi256_pd(x));
      total = _mm256_xor_si256(total, _mm256_castpd_si256(selected));
      x = _mm256_slli_epi64(x, 1);
    }
    store(out + at, total);
  }
}

static const struct operation {
  const char *name;
  operation_fn *run;
} OPERATIONS[] = {ALGEBRA_FUNCTIONS(ALGEBRA_ROW)};

static const char *open_avx2(void **out, const bench_spec *spec) {
  if (!__builtin_cpu_supports("avx2"))
    return "this CPU lacks avx2";
  if (spec->m != 1 || spec->len % 512 != 0)
    return "no such shape";
  for (size_t n = 0; n < sizeof OPERATIONS / sizeof *OPERATIONS; n++)
    if (strcmp(OPERATIONS[n].name, spec->variant) == 0) {
      *out = (void *)&OPERATIONS[n];
      return NULL;
    }
  return "no such function";
}

static void run(void *opaque, const bench_job *job) {
  const struct operation *operation = opaque;
  uint8_t *shard[BENCH_MAX_SHARDS];
  bench_point(job, 0, shard);
  for (size_t n = 0; n < job->count; n++) {
    if (job->order != NULL)
      bench_point(job, n, shard);
    operation->run(job->len, shard[0], shard[job->k - 1], shard[job->k]);
  }
}
#else
static const char *open_avx2(void **out, const bench_spec *spec) {
  (void)out, (void)spec;
  return "this machine has no AVX2";
}

static void run(void *opaque, const bench_job *job) { (void)opaque, (void)job; }
#endif

static void close_avx2(void *opaque) { (void)opaque; }

const peer_api legacy_contender = {open_avx2, run, close_avx2};
