/* cpu_raw.h: feature data of each architecture's CPU or operating system, and their decoding.
 *
 * The decode functions are pure and in every build, so that all of them can be tested on any
 * machine. */
#ifndef GFS_CPU_RAW_H
#define GFS_CPU_RAW_H

#include <stdbool.h>
#include <stdint.h>

#include "cpu.h"
#include "cpu_auxv.h"

/* x86: results of CPUID and XGETBV. */
typedef struct gfs_x86_raw {
  uint32_t max_leaf;  /* CPUID 0, eax */
  uint32_t leaf1_ecx; /* CPUID 1 */
  uint32_t leaf7_ebx; /* CPUID 7, subleaf 0; 0 if max_leaf < 7 */
  uint32_t leaf7_ecx;
  uint64_t xcr0; /* XGETBV 0; 0 if the OS has not enabled XGETBV (CPUID 1, ecx, OSXSAVE) */
} gfs_x86_raw;

uint32_t gfs_x86_decode(const gfs_x86_raw *raw);
uint32_t gfs_x86_decode_carryless(const gfs_x86_raw *raw);

uint32_t gfs_aarch64_decode(gfs_auxv raw);
uint32_t gfs_aarch64_decode_carryless(gfs_auxv raw);

/* Implementer and part from the register MIDR_EL1. */
void gfs_aarch64_decode_identity(uint64_t midr, gfs_cpu_identity *identity);

uint32_t gfs_power_decode(gfs_auxv raw);
uint32_t gfs_power_decode_carryless(gfs_auxv raw);

uint32_t gfs_s390x_decode(gfs_auxv raw);
uint32_t gfs_loongarch_decode(gfs_auxv raw);

/* RISC-V */
typedef struct gfs_riscv_raw {
  bool probed;        /* the kernel has riscv_hwprobe */
  uint64_t ima_ext_0; /* its result for the key IMA_EXT_0 */
  uint64_t cpuperf_0; /* and for CPUPERF_0 */
  uint64_t hwcap;     /* AT_HWCAP */
  /* largest vl in bytes that vsetvli grants, tail-agnostic; 0: not executed */
  uint64_t vector_bytes;
} gfs_riscv_raw;

uint32_t gfs_riscv_decode(const gfs_riscv_raw *raw);
uint32_t gfs_riscv_decode_carryless(const gfs_riscv_raw *raw);

#endif
