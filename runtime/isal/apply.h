/* apply.h: a linear map given by ISA-L's tables, with gfsmith's kernels. */
#ifndef GFS_ISAL_APPLY_H
#define GFS_ISAL_APPLY_H

#include <stddef.h>
#include <stdint.h>

#include "dispatch.h"

/* dst[i] = (dot) or += (mad) sum over j of c(i, j) * src[j], c(i, j) the entry
 * entries + 32 * (i * stride + j). Any numbers; without sources, dot writes zeros. */
typedef struct gfs_isal_call {
  size_t len;
  size_t inputs;
  size_t outputs;
  const uint8_t *entries;
  size_t stride;
  const uint8_t *const *src;
  uint8_t *const *dst;
} gfs_isal_call;

/* operation: GFS_OPERATION_dot or GFS_OPERATION_mad. */
void gfs_isal_apply(const gfs_isal_call *call, gfs_operation operation);

#endif
