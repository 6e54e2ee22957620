#include "cpu.h"

#if defined(__x86_64__) || defined(__i386__) || defined(_M_X64) || defined(_M_IX86) ||             \
    defined(__aarch64__) || defined(_M_ARM64)
#define SAYS_WHICH_IT_IS
#endif

#if !defined(SAYS_WHICH_IT_IS) && !defined(__powerpc64__) && !defined(__riscv) &&                  \
    !defined(__s390x__) && !defined(__loongarch64)

/* A WebAssembly module is refused where its instructions are unknown, so what it was compiled with
 * is there. */
uint32_t gfs_cpu_features(void) {
  uint32_t features = 0;
#if defined(__wasm_simd128__)
  features |= GFSMITH_CPU_SIMD128;
#endif
#if defined(__wasm_relaxed_simd__)
  features |= GFSMITH_CPU_RELAXED_SIMD;
#endif
  return features;
}

#endif

#if !defined(SAYS_WHICH_IT_IS)

void gfs_cpu_identify(gfs_cpu_identity *identity) { *identity = (gfs_cpu_identity){"", 0, 0}; }

#endif
