/* call.h: a call: a linear map given by ISA-L's tables, and its shards. */
#ifndef GFS_ISAL_CALL_H
#define GFS_ISAL_CALL_H

#include <stddef.h>
#include <stdint.h>

/* dst[i] = (dot) or += (mad) sum over j of c(i, j) * src[j], where c(i, j) has its entry at entries
 * + 32 * (i * stride + j). Any numbers of sources and destinations; without sources, dot writes
 * zeros. */
typedef struct gfs_isal_call {
  size_t len;
  size_t inputs;
  size_t outputs;
  const uint8_t *entries;
  size_t stride;
  const uint8_t *const *src;
  uint8_t *const *dst;
} gfs_isal_call;

#endif
