/* short_calls.h: calls in cache with a kernel that reads ISA-L's tables in place, and with as
 * little other work as possible, which takes as long as the kernel if the shards are short. The
 * functions have parameters of ISA-L's types, of which one comparison each excludes negative
 * values. */
#ifndef GFS_ISAL_SHORT_CALLS_H
#define GFS_ISAL_SHORT_CALLS_H

#include <stdatomic.h>

#include "dispatch.h"
#include "table_entries.h"

/* The most sources and outputs of such a call. */
enum { GFS_ISAL_SHORT_INPUTS = 255, GFS_ISAL_SHORT_OUTPUTS = 6 };

/* The most bytes of a shard for which dot does not look for a known matrix: the comparison of the
 * coefficients takes about as long as the kernel of the known matrix gains. */
enum { GFS_ISAL_UNCOMPARED = 512 };

/* Kernels that read tables in place, by operation and outputs: dot of any number of inputs, and mad
 * of one. NULL if there is none, and before the first call of gfs_isal_find_short. */
extern _Atomic(gfsmith_kernel *) gfs_isal_short[GFS_OPERATION_mad + 1][GFS_ISAL_SHORT_OUTPUTS + 1];

/* Look up these kernels for this instruction set if no call did. */
void gfs_isal_find_short(const gfs_isa *isa);

/* Return the best kernel for dot in cache: of the known matrix or of the sum that the tables
 * contain, else `dense`; NULL if several kernels are needed. */
gfsmith_kernel *gfs_isal_compared(gfsmith_kernel *dense, const uint8_t *entries, size_t inputs,
                                  size_t outputs);

/* Is 1 <= value <= most? */
static inline bool gfs_isal_within(int value, unsigned most) { return (unsigned)value - 1 < most; }

/* Do the tables begin with entries of the form MATRICES in each row? Of a row, only the entries up
 * to the first that is not 0 are read. */
static inline bool gfs_isal_rows_are_matrices(const uint8_t *entries, size_t stride, size_t inputs,
                                              size_t outputs) {
  for (; outputs > 0; outputs--, entries += stride * GFS_ISAL_ENTRY) {
    const uint8_t *entry = entries;
    for (size_t left = inputs; left > 0 && !gfs_isal_is_matrices(entry);
         left--, entry += GFS_ISAL_ENTRY)
      if (entry[1] != 0)
        return false;
  }
  return true;
}

/* Return the kernel for the call gfs_isal_apply(len, k, rows, ..., k, ...), GFS_OPERATION_dot. */
static inline gfsmith_kernel *gfs_isal_short_dot(int len, int k, int rows, const uint8_t *entries) {
  if (!gfs_isal_within(len, GFS_OWN_CACHE_LEAST) || !gfs_isal_within(k, GFS_ISAL_SHORT_INPUTS) ||
      !gfs_isal_within(rows, GFS_ISAL_SHORT_OUTPUTS) ||
      (size_t)len * (size_t)(k + rows) > GFS_OWN_CACHE_LEAST)
    return NULL;
  gfsmith_kernel *kernel =
      atomic_load_explicit(&gfs_isal_short[GFS_OPERATION_dot][rows], memory_order_relaxed);
  if (kernel == NULL || !gfs_isal_rows_are_matrices(entries, (size_t)k, (size_t)k, (size_t)rows))
    return NULL;
  return len <= GFS_ISAL_UNCOMPARED ? kernel
                                    : gfs_isal_compared(kernel, entries, (size_t)k, (size_t)rows);
}

/* The same for GFS_OPERATION_mad of one source, with the entries of its column. */
static inline gfsmith_kernel *gfs_isal_short_mad(int len, int k, int rows, const uint8_t *entries) {
  if (!gfs_isal_within(len, GFS_OWN_CACHE_LEAST / (1 + GFS_ISAL_SHORT_OUTPUTS)) || k <= 0 ||
      !gfs_isal_within(rows, GFS_ISAL_SHORT_OUTPUTS))
    return NULL;
  gfsmith_kernel *kernel =
      atomic_load_explicit(&gfs_isal_short[GFS_OPERATION_mad][rows], memory_order_relaxed);
  if (kernel == NULL || !gfs_isal_rows_are_matrices(entries, (size_t)k, 1, (size_t)rows))
    return NULL;
  return kernel;
}

#endif
