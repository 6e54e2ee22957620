/* cpu_auxv.h: what Linux and FreeBSD tell a program of the CPU. */
#ifndef GFS_CPU_AUXV_H
#define GFS_CPU_AUXV_H

#include "cpu_raw.h"

#if defined(__linux__)

#include <sys/auxv.h>

static inline gfs_auxv gfs_auxv_read(void) {
  return (gfs_auxv){getauxval(AT_HWCAP), getauxval(AT_HWCAP2)};
}

#elif defined(__FreeBSD__)

#include <sys/auxv.h>

static inline gfs_auxv gfs_auxv_read(void) {
  unsigned long hwcap = 0, hwcap2 = 0; /* left alone where the kernel does not say */
  elf_aux_info(AT_HWCAP, &hwcap, sizeof hwcap);
  elf_aux_info(AT_HWCAP2, &hwcap2, sizeof hwcap2);
  return (gfs_auxv){hwcap, hwcap2};
}

#else

static inline gfs_auxv gfs_auxv_read(void) { return (gfs_auxv){0, 0}; }

#endif

#endif
