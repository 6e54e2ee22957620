/* cpu_auxv.h: the CPU's features as reported by Linux and FreeBSD. */
#ifndef GFS_CPU_AUXV_H
#define GFS_CPU_AUXV_H

#include <stdint.h>

/* The feature words in the auxiliary vector (getauxval, elf_aux_info). */
typedef struct gfs_auxv {
  uint64_t hwcap;  /* AT_HWCAP */
  uint64_t hwcap2; /* AT_HWCAP2 */
} gfs_auxv;

#if defined(__linux__)

#include <sys/auxv.h>

static inline gfs_auxv gfs_auxv_read(void) {
  return (gfs_auxv){getauxval(AT_HWCAP), getauxval(AT_HWCAP2)};
}

#elif defined(__FreeBSD__)

#include <sys/auxv.h>

static inline gfs_auxv gfs_auxv_read(void) {
  unsigned long hwcap = 0, hwcap2 = 0; /* elf_aux_info leaves missing entries unchanged */
  elf_aux_info(AT_HWCAP, &hwcap, sizeof hwcap);
  elf_aux_info(AT_HWCAP2, &hwcap2, sizeof hwcap2);
  return (gfs_auxv){hwcap, hwcap2};
}

#else

static inline gfs_auxv gfs_auxv_read(void) { return (gfs_auxv){0, 0}; }

#endif

#endif
