#include "cpu.h"

/* begin facts: guards of cpu_*.c in C */
/* clang-format off */
#if defined(__aarch64__) || defined(_M_ARM64) /* cpu_aarch64.c */
#define HAS_FEATURES
#define HAS_IDENTITY
#endif
#if defined(__loongarch64) /* cpu_loongarch.c */
#define HAS_FEATURES
#endif
#if defined(__powerpc64__) /* cpu_power.c */
#define HAS_FEATURES
#endif
#if defined(__riscv) /* cpu_riscv.c */
#define HAS_FEATURES
#endif
#if defined(__s390x__) /* cpu_s390x.c */
#define HAS_FEATURES
#endif
#if defined(__x86_64__) || defined(__i386__) || defined(_M_X64) || defined(_M_IX86) /* cpu_x86.c */
#define HAS_FEATURES
#define HAS_IDENTITY
#endif
/* clang-format on */
/* end facts */

#if !defined(HAS_FEATURES)

uint32_t gfs_cpu_features(void) { return 0; }

#endif

#if !defined(HAS_IDENTITY)

void gfs_cpu_identify(gfs_cpu_identity *identity) { *identity = (gfs_cpu_identity){"", 0, 0}; }

#endif
