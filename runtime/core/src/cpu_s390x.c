#include "cpu_raw.h"

/* Linux, arch/s390/include/asm/elf.h: HWCAP_VXRS, HWCAP_VXRS_EXT. */
#define HWCAP_BIT_VX (UINT64_C(1) << 11)
#define HWCAP_BIT_VXE (UINT64_C(1) << 13)

uint32_t gfs_s390x_decode(gfs_auxv raw) {
  if (!(raw.hwcap & HWCAP_BIT_VX))
    return 0;
  return GFSMITH_CPU_VX | (raw.hwcap & HWCAP_BIT_VXE ? GFSMITH_CPU_VXE : 0);
}

#if defined(__s390x__)

uint32_t gfs_cpu_features(void) { return gfs_s390x_decode(gfs_auxv_read()); }

#endif
