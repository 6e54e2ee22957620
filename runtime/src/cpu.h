/* cpu.h: which instructions may be used here: the CPU has them and the OS saves their registers.
 *
 * One of the files cpu_*.c defines what is declared here, the one for the machine compiled for. A
 * build for a single instruction set (GFSMITH_SINGLE_ISA) needs none of them. */
#ifndef GFS_CPU_H
#define GFS_CPU_H

#include <stdint.h>

/* Feature bits, named in gen_out/isas.inc. */

/* x86 */
#define GFSMITH_CPU_SSSE3 (1u << 0)
#define GFSMITH_CPU_AVX (1u << 1)
#define GFSMITH_CPU_AVX2 (1u << 2)
#define GFSMITH_CPU_BMI2 (1u << 3)
#define GFSMITH_CPU_AVX512F (1u << 4)
#define GFSMITH_CPU_AVX512BW (1u << 5)
#define GFSMITH_CPU_AVX512VL (1u << 6)
#define GFSMITH_CPU_GFNI (1u << 7)
/* AArch64 */
#define GFSMITH_CPU_ASIMD (1u << 8)
#define GFSMITH_CPU_SHA3 (1u << 9) /* eor3 */
#define GFSMITH_CPU_SVE (1u << 10)
#define GFSMITH_CPU_SVE2 (1u << 11)
/* POWER: VSX and vpermxor of each version of the architecture */
#define GFSMITH_CPU_VSX207 (1u << 12) /* POWER8 */
#define GFSMITH_CPU_VSX300 (1u << 13) /* POWER9 */
#define GFSMITH_CPU_VSX310 (1u << 14) /* POWER10 */
/* RISC-V */
#define GFSMITH_CPU_RVV (1u << 15) /* V 1.0, so vectors of 16 bytes at least */
/* s390x */
#define GFSMITH_CPU_VX (1u << 16)  /* z13 */
#define GFSMITH_CPU_VXE (1u << 17) /* z14 */
/* LoongArch */
#define GFSMITH_CPU_LSX (1u << 18)
#define GFSMITH_CPU_LASX (1u << 19)

/* The features of the CPU this runs on; 0 on machines that no cpu_*.c knows, and in WebAssembly,
 * whose sets are chosen when a module is compiled. */
uint32_t gfs_cpu_features(void);

/* Which CPU it is. x86: the vendor's name, family and model with their extended fields added.
 * AArch64: the implementer as Linux prints it ("0x41" is Arm), 0, the part number. */
typedef struct gfs_cpu_identity {
  char vendor[13];
  unsigned family;
  unsigned model;
} gfs_cpu_identity;

/* The CPU this runs on; an empty vendor and zeros where that cannot be asked. */
void gfs_cpu_identify(gfs_cpu_identity *identity);

#endif
