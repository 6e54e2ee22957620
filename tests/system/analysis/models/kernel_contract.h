/* The contract of a kernel (docs/contract.md) in ACSL: the conditions that the proofs of the
 * kernels assume about a call, and the effects that they guarantee.
 *
 * kernels.c defines every kernel by these functions. Numbers that a kernel's name fixes are
 * arguments here: the numbers of sources and outputs, and the bytes of the table. */
#ifndef ANALYSIS_KERNEL_CONTRACT_H
#define ANALYSIS_KERNEL_CONTRACT_H

#include <stddef.h>
#include <stdint.h>

/* The parts of a call that are read: the arrays of pointers, the sources and the table. */
/*@ requires sources: sources >= 1;
  @ requires sources: \valid_read(src + (0 .. sources - 1));
  @ requires sources: \initialized(src + (0 .. sources - 1));
  @ requires destinations: \valid_read(dst + (0 .. outputs - 1));
  @ requires destinations: \initialized(dst + (0 .. outputs - 1));
  @ requires read: \valid_read(src[0 .. sources - 1] + (0 .. len - 1));
  @ requires table: table == 0 || \valid_read(coeffs + (0 .. table - 1));
  @ requires filled: table == 0 || \initialized(coeffs + (0 .. table - 1));
  @ assigns \nothing; */
void gfs_kernel_reads(size_t len, size_t sources, size_t outputs, size_t table,
                      const uint8_t *coeffs, const uint8_t *const *src, uint8_t *const *dst);

/* The bytes of one destination, which are written. They are separate from all that is read: for mad
 * and mul this is more than the contract demands. */
/*@ requires written: \valid(out + (0 .. len - 1));
  @ requires source: \separated(out + (0 .. len - 1), src[0 .. sources - 1] + (0 .. len - 1));
  @ requires pointers: \separated(out + (0 .. len - 1), src + (0 .. sources - 1));
  @ requires pointers: \separated(out + (0 .. len - 1), dst + (0 .. outputs - 1));
  @ requires table: table == 0 || \separated(out + (0 .. len - 1), coeffs + (0 .. table - 1));
  @ assigns out[0 .. len - 1] \from src[0 .. sources - 1][0 .. len - 1], coeffs[0 .. table - 1];
  @ ensures \initialized(out + (0 .. len - 1)); */
void gfs_kernel_writes(size_t len, size_t sources, size_t outputs, size_t table,
                       const uint8_t *coeffs, const uint8_t *const *src, uint8_t *const *dst,
                       uint8_t *out);

/* Two destinations. */
/*@ requires destinations: \separated(a + (0 .. len - 1), b + (0 .. len - 1));
  @ assigns \nothing; */
void gfs_kernel_separates(size_t len, const uint8_t *a, const uint8_t *b);

#endif
