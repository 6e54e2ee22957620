#include "cpu.h"

#if defined(__x86_64__) || defined(__i386__) || defined(_M_X64) || defined(_M_IX86) ||             \
    defined(__aarch64__) || defined(_M_ARM64)
#define SAYS_WHICH_IT_IS
#endif

#if !defined(SAYS_WHICH_IT_IS) && !defined(__powerpc64__) && !defined(__riscv) &&                  \
    !defined(__s390x__) && !defined(__loongarch64)

uint32_t gfs_cpu_features(void) { return 0; }

#endif

#if !defined(SAYS_WHICH_IT_IS)

void gfs_cpu_identify(gfs_cpu_identity *identity) { *identity = (gfs_cpu_identity){"", 0, 0}; }

#endif
