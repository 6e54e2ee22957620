/* ending.h: calls that end with a kernel.
 *
 * Kernels in x86-64 machine code return 0, which the provers check (docs/contract.md). So a short
 * call ends with a jump to its kernel: a call and a return take as long as 64 bytes of a sum. */
#ifndef GFS_ENDING_H
#define GFS_ENDING_H

#include "dispatch.h"

/* In the static analysis kernels have no result. */
#if (defined(__x86_64__) || defined(_M_X64)) && !defined(__FRAMAC__)
#define GFS_KERNELS_RETURN_ZERO 1
#else
#define GFS_KERNELS_RETURN_ZERO 0
#endif

/* May a call with kernels of this instruction set end with gfs_end_with? On x86-64, kernels in C,
 * which need no features, return nothing. */
static inline bool gfs_may_end_calls(const gfs_isa *isa) {
  return !GFS_KERNELS_RETURN_ZERO || isa->features != 0;
}

typedef int gfs_ending(size_t len, size_t k, const uint8_t *coeffs, const uint8_t *const *src,
                       uint8_t *const *dst);

/* The type of the call is not that of the declaration, for which clang's -fsanitize=cfi-icall ends
 * a program. The check of this call alone is left out; all others have the declared type. */
#if defined(__clang__)
#define GFS_CALLED_AS_OTHER_TYPE __attribute__((no_sanitize("cfi-icall")))
#else
#define GFS_CALLED_AS_OTHER_TYPE
#endif

/* Run the last kernel of a call. Returns GFSMITH_OK. */
GFS_CALLED_AS_OTHER_TYPE static inline gfsmith_status
gfs_end_with(gfsmith_kernel *kernel, size_t len, size_t k, const uint8_t *coeffs,
             const uint8_t *const *src, uint8_t *const *dst) {
#if GFS_KERNELS_RETURN_ZERO
  union {
    gfsmith_kernel *kernel;
    gfs_ending *ending;
  } code = {kernel};
  return (gfsmith_status)code.ending(len, k, coeffs, src, dst);
#else
  kernel(len, k, coeffs, src, dst);
  return GFSMITH_OK;
#endif
}

#endif
