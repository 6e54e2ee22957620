#include "pointers.h"

#include "codec.h"
#include "cpu.h"

/* In the static analysis vectors have no model. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__FRAMAC__)
#include <immintrin.h>
#define READS_POINTERS_IN_VECTORS 1
#else
#define READS_POINTERS_IN_VECTORS 0
#endif

#if READS_POINTERS_IN_VECTORS
enum { VECTOR = sizeof(__m256i) / sizeof(uint8_t *), VECTORS = 4 * VECTOR };

/* The bits that are 1 in VECTORS pointers, in each of VECTOR columns. */
__attribute__((target("avx2"))) static inline __m256i
common_of_vectors(const uint8_t *const *pointers) {
  const __m256i *from = (const __m256i *)(const void *)pointers;
  __m256i first = _mm256_and_si256(_mm256_loadu_si256(from), _mm256_loadu_si256(from + 1));
  __m256i last = _mm256_and_si256(_mm256_loadu_si256(from + 2), _mm256_loadu_si256(from + 3));
  return _mm256_and_si256(first, last);
}

/* Do count >= VECTORS pointers have a common bit? */
__attribute__((target("avx2"))) static bool have_common_bit(const uint8_t *const *pointers,
                                                            size_t count) {
  const uint8_t *const *last = pointers + (count - VECTORS);
  __m256i common = common_of_vectors(last);
  for (; pointers < last; pointers += VECTORS)
    common = _mm256_and_si256(common, common_of_vectors(pointers));
  __m128i half = _mm_and_si128(_mm256_castsi256_si128(common), _mm256_extracti128_si256(common, 1));
  return (_mm_cvtsi128_si64(half) & _mm_extract_epi64(half, 1)) != 0;
}
#endif

bool gfs_many_given(const gfs_isa *isa, const uint8_t *const *pointers, size_t count) {
#if READS_POINTERS_IN_VECTORS
  if ((isa->features & (GFSMITH_CPU_AVX2 | GFSMITH_CPU_AVX512F)) != 0 && pointers != NULL &&
      count >= VECTORS && have_common_bit(pointers, count))
    return true;
#endif
  (void)isa;
  return gfs_all_given(pointers, count);
}
