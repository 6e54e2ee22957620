/* cpu.h: which instructions may be used here: the CPU has them and the OS saves their registers. */
#ifndef GFS_CPU_H
#define GFS_CPU_H

#include <stdint.h>

/* Feature bits, named in gen_out/isas.inc. */
#define GFSMITH_CPU_SSSE3 (1u << 0)
#define GFSMITH_CPU_AVX (1u << 1)
#define GFSMITH_CPU_AVX2 (1u << 2)
#define GFSMITH_CPU_BMI2 (1u << 3)
#define GFSMITH_CPU_AVX512F (1u << 4)
#define GFSMITH_CPU_AVX512BW (1u << 5)
#define GFSMITH_CPU_AVX512VL (1u << 6)
#define GFSMITH_CPU_GFNI (1u << 7)

/* What CPUID and XGETBV say, unjudged. */
typedef struct gfs_cpu_raw {
  uint32_t max_leaf;  /* CPUID 0, eax */
  uint32_t leaf1_ecx; /* CPUID 1 */
  uint32_t leaf7_ebx; /* CPUID 7, subleaf 0; 0 if max_leaf < 7 */
  uint32_t leaf7_ecx;
  uint64_t xcr0; /* XGETBV 0; 0 if the OS has not enabled XGETBV (CPUID 1, ecx, OSXSAVE) */
} gfs_cpu_raw;

/* The features that may be used, from the raw values: a pure function. */
uint32_t gfs_cpu_decode(const gfs_cpu_raw *raw);

/* The features of the CPU this runs on; 0 on anything but x86. */
uint32_t gfs_cpu_features(void);

/* Which CPU it is: the vendor's name, family and model with their extended fields added. */
typedef struct gfs_cpu_identity {
  char vendor[13];
  unsigned family;
  unsigned model;
} gfs_cpu_identity;

/* Family and model from CPUID 1, eax: a pure function. */
void gfs_cpu_decode_identity(uint32_t leaf1_eax, gfs_cpu_identity *identity);

/* The CPU this runs on; an empty vendor and zeros on anything but x86. */
void gfs_cpu_identify(gfs_cpu_identity *identity);

#endif
