/* cpu.h: the usable instructions: those that the CPU has and whose registers the operating system
 * saves.
 *
 * The file cpu_*.c for the target architecture defines these functions. A build for a single
 * instruction set (GFSMITH_SINGLE_ISA) needs none of them. */
#ifndef GFS_CPU_H
#define GFS_CPU_H

#include <stdint.h>

/* Feature bits; gen_out/isas.inc names those that each instruction set needs. */

/* begin facts: features in C */
/* clang-format off */
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
/* POWER */
#define GFSMITH_CPU_ALTIVEC (1u << 12) /* vectors at multiples of 16, vperm */
#define GFSMITH_CPU_VSX207 (1u << 13) /* VSX and vpermxor of POWER8 */
#define GFSMITH_CPU_VSX300 (1u << 14) /* of POWER9 */
#define GFSMITH_CPU_VSX310 (1u << 15) /* of POWER10 */
/* RISC-V */
#define GFSMITH_CPU_RVV (1u << 16) /* V 1.0, so vectors of 16 bytes at least */
/* s390x */
#define GFSMITH_CPU_VX (1u << 17) /* z13 */
#define GFSMITH_CPU_VXE (1u << 18) /* z14 */
/* LoongArch */
#define GFSMITH_CPU_LSX (1u << 19)
#define GFSMITH_CPU_LASX (1u << 20)
/* clang-format on */
/* end facts */

/* The features of this CPU; 0 on architectures without a cpu_*.c, and in WebAssembly, where
 * instruction sets are chosen when a module is compiled. */
uint32_t gfs_cpu_features(void);

/* Instructions over GF(2)[x], which the routines of gfsmith_checksum.h need and no instruction set
 * of kernels: carry-less multiplications, remainders modulo the polynomial of a CRC, and a move of
 * bytes. Defined on x86, AArch64, POWER and RISC-V only. */
#define GFS_CARRYLESS_GROUP 1u  /* of two words of 64 bits: PCLMULQDQ, PMULL, vpmsumd, Zbc */
#define GFS_CARRYLESS_VECTOR 2u /* in each group of a vector: VPCLMULQDQ */
#define GFS_CARRYLESS_CRC32 4u  /* crc32 of SSE4.2, FEAT_CRC32 */
#define GFS_CARRYLESS_EXPAND 8u /* bytes moved to the places of a mask: VPEXPANDB */
uint32_t gfs_cpu_carryless(void);

/* The identity of a CPU. x86: the vendor's name, family and model with their extended fields added.
 * AArch64: the implementer as printed by Linux ("0x41" is Arm), 0, the part number. */
typedef struct gfs_cpu_identity {
  char vendor[13];
  unsigned family;
  unsigned model;
} gfs_cpu_identity;

/* The identity of this CPU; an empty vendor and zeros if it cannot be read. */
void gfs_cpu_identify(gfs_cpu_identity *identity);

#endif
