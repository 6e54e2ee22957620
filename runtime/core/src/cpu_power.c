#include "cpu_raw.h"

/* Linux, arch/powerpc/include/uapi/asm/cputable.h; FreeBSD has the same numbers. */
#define HWCAP_BIT_VSX (UINT64_C(1) << 7)
#define HWCAP_BIT_ALTIVEC (UINT64_C(1) << 28)
#define HWCAP2_BIT_ARCH_3_1 (UINT64_C(1) << 18)
#define HWCAP2_BIT_ARCH_3_00 (UINT64_C(1) << 23)
#define HWCAP2_BIT_VEC_CRYPTO (UINT64_C(1) << 25) /* the category of vpermxor and vpmsumd */
#define HWCAP2_BIT_ARCH_2_07 (UINT64_C(1) << 31)

uint32_t gfs_power_decode(gfs_auxv raw) {
  uint32_t features = raw.hwcap & HWCAP_BIT_ALTIVEC ? GFSMITH_CPU_ALTIVEC : 0;
  if (!(raw.hwcap & HWCAP_BIT_VSX) || !(raw.hwcap2 & HWCAP2_BIT_VEC_CRYPTO))
    return features;
  if (raw.hwcap2 & HWCAP2_BIT_ARCH_2_07)
    features |= GFSMITH_CPU_VSX207;
  if (raw.hwcap2 & HWCAP2_BIT_ARCH_3_00)
    features |= GFSMITH_CPU_VSX300;
  if (raw.hwcap2 & HWCAP2_BIT_ARCH_3_1)
    features |= GFSMITH_CPU_VSX310;
  return features;
}

/* With a vector of POWER8 the routines also use its loads and moves. */
uint32_t gfs_power_decode_carryless(gfs_auxv raw) {
  return gfs_power_decode(raw) & GFSMITH_CPU_VSX207 ? GFS_CARRYLESS_GROUP : 0;
}

#if defined(__powerpc64__)

uint32_t gfs_cpu_features(void) { return gfs_power_decode(gfs_auxv_read()); }
uint32_t gfs_cpu_carryless(void) { return gfs_power_decode_carryless(gfs_auxv_read()); }

#endif
