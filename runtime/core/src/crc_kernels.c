/* The generated routines of gfsmith_checksum.h, and their choice. */
#include <string.h>

#include "cpu.h"
#include "crc.h"
#include "inlining.h"
#include "prefetch.h"

#if (defined(__x86_64__) || defined(_M_X64)) && defined(__GNUC__)
#include <immintrin.h>
#elif defined(__aarch64__) && defined(__GNUC__)
#include <arm_acle.h>
#include <arm_neon.h>
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__) && defined(__GNUC__)
#include "crc_power.h"
#elif defined(__riscv) && __riscv_xlen == 64 && defined(__GNUC__)
#include "crc_riscv.h"
#endif

#if !defined(GFSMITH_SINGLE_ISA) &&                                                                \
    (defined(__x86_64__) || defined(_M_X64) || defined(__aarch64__) || defined(_M_ARM64) ||        \
     defined(__powerpc64__) || (defined(__riscv) && __riscv_xlen == 64))
#define DETECTED 1
#else
#define DETECTED 0
#endif

/* Are the instructions of the CPU on general registers, and useful without vectors? */
#if defined(__riscv)
#define GENERAL true
#else
#define GENERAL false
#endif

/* Make a number unknown to the compiler. clang computes the low bits of its quotient modulo 2^32
 * otherwise, which the proof of machine code does not follow. */
#define GFS_CRC_WHOLE(number) __asm__("" : "+r"(number))

/* Compilers make one store of each of these, but not of loops. */
static inline void gfs_crc_put_reflected(uint8_t *to, uint64_t word) {
  to[0] = (uint8_t)word;
  to[1] = (uint8_t)(word >> 8);
  to[2] = (uint8_t)(word >> 16);
  to[3] = (uint8_t)(word >> 24);
  to[4] = (uint8_t)(word >> 32);
  to[5] = (uint8_t)(word >> 40);
  to[6] = (uint8_t)(word >> 48);
  to[7] = (uint8_t)(word >> 56);
}

static inline void gfs_crc_put_normal(uint8_t *to, uint64_t word) {
  to[0] = (uint8_t)(word >> 56);
  to[1] = (uint8_t)(word >> 48);
  to[2] = (uint8_t)(word >> 40);
  to[3] = (uint8_t)(word >> 32);
  to[4] = (uint8_t)(word >> 24);
  to[5] = (uint8_t)(word >> 16);
  to[6] = (uint8_t)(word >> 8);
  to[7] = (uint8_t)word;
}

#include "crc_kernels.inc"

const gfs_crc gfs_crcs[GFS_CRC_KINDS] = {
#include "crc_tables.inc"
};

uint64_t gfs_crc_words(const gfs_crc *crc, uint64_t state, size_t len, const uint8_t *data) {
  return crc->order == GFS_CRC_REFLECTED ? gfs_bytes_reflected__words(crc, state, len, data)
                                         : gfs_bytes_normal__words(crc, state, len, data);
}

void gfs_crc_start(const gfs_crc *crc, uint64_t state, const uint8_t *data, uint8_t *message) {
  if (crc->order == GFS_CRC_REFLECTED)
    gfs_crc_put_reflected(message, gfs_crc_word_reflected(data) ^ state);
  else
    gfs_crc_put_normal(message, gfs_crc_word_normal(data) ^ state);
}

/* The instructions over GF(2)[x] of this CPU. A library for one instruction set does not look for
 * them. */
static uint32_t carryless(void) {
#if DETECTED
  return gfs_cpu_carryless(); /* slow in virtual machines, hence gfs_crc_chosen */
#else
  return 0;
#endif
}

_Atomic(const gfs_crc_set *) gfs_crc_chosen[GFS_ISAS];

const gfs_crc_set *gfs_crc_choose(const gfs_isa *isa) {
  const gfs_crc_set *set = gfs_crc_sets;
  uint32_t features = isa != NULL ? isa->features : 0;
  uint32_t instructions = isa != NULL && (features != 0 || GENERAL) ? carryless() : 0;
  while ((set->features & ~features) != 0 || (set->carryless & ~instructions) != 0)
    set++; /* the last one needs nothing */
  if (isa != NULL)
    atomic_store_explicit(&gfs_crc_chosen[isa->id], set, memory_order_relaxed);
  return set;
}
