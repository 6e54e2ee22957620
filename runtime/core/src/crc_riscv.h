/* crc_riscv.h: groups of 16 bytes in two registers of RISC-V, for crc_kernels.inc.
 *
 * The instructions are those of Zbc and Zbb, as numbers, because the assembler may not accept them
 * here. Compilers load and store a word at any address byte by byte, so these are written as
 * instructions too. */
#ifndef GFS_CRC_RISCV_H
#define GFS_CRC_RISCV_H

#include <stdint.h>

#include "inlining.h"

typedef struct gfs_zbc_group {
  uint64_t low;
  uint64_t high;
} gfs_zbc_group;

typedef struct gfs_zbc_bytes {
  uint8_t byte[8];
} gfs_zbc_bytes;

static GFS_INLINED uint64_t gfs_zbc_load_word(const uint8_t *from) {
  uint64_t word;
  __asm__("ld %0, %1" : "=r"(word) : "m"(*(const gfs_zbc_bytes *)(const void *)from));
  return word;
}

static GFS_INLINED void gfs_zbc_store_word(uint8_t *to, uint64_t word) {
  __asm__("sd %1, %0" : "=m"(*(gfs_zbc_bytes *)(void *)to) : "r"(word));
}

static GFS_INLINED gfs_zbc_group gfs_zbc_load(const uint8_t *from) {
  return (gfs_zbc_group){gfs_zbc_load_word(from), gfs_zbc_load_word(from + 8)};
}

static GFS_INLINED void gfs_zbc_store(uint8_t *to, gfs_zbc_group group) {
  gfs_zbc_store_word(to, group.low);
  gfs_zbc_store_word(to + 8, group.high);
}

/* clmul and clmulh: both halves of the product of two words. */
static GFS_INLINED gfs_zbc_group gfs_zbc_product(uint64_t a, uint64_t b) {
  gfs_zbc_group product;
  __asm__(".insn r 0x33, 1, 5, %0, %1, %2" : "=r"(product.low) : "r"(a), "r"(b));
  __asm__(".insn r 0x33, 3, 5, %0, %1, %2" : "=r"(product.high) : "r"(a), "r"(b));
  return product;
}

static GFS_INLINED gfs_zbc_group gfs_zbc_sum(gfs_zbc_group a, gfs_zbc_group b) {
  return (gfs_zbc_group){a.low ^ b.low, a.high ^ b.high};
}

/* rev8 */
static GFS_INLINED uint64_t gfs_zbc_reversed_word(uint64_t word) {
  uint64_t reversed;
  __asm__(".insn i 0x13, 5, %0, %1, 0x6b8" : "=r"(reversed) : "r"(word));
  return reversed;
}

static GFS_INLINED gfs_zbc_group gfs_zbc_reversed(gfs_zbc_group group) {
  return (gfs_zbc_group){gfs_zbc_reversed_word(group.high), gfs_zbc_reversed_word(group.low)};
}

#endif
