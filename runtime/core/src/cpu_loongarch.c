#include "cpu_raw.h"

/* Linux, arch/loongarch/include/uapi/asm/hwcap.h. */
#define HWCAP_BIT_LSX (UINT64_C(1) << 4)
#define HWCAP_BIT_LASX (UINT64_C(1) << 5)

uint32_t gfs_loongarch_decode(gfs_auxv raw) {
  if (!(raw.hwcap & HWCAP_BIT_LSX))
    return 0;
  return GFSMITH_CPU_LSX | (raw.hwcap & HWCAP_BIT_LASX ? GFSMITH_CPU_LASX : 0);
}

#if defined(__loongarch64)

uint32_t gfs_cpu_features(void) { return gfs_loongarch_decode(gfs_auxv_read()); }

#endif
