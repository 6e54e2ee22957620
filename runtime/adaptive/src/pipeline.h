/* pipeline.h: execution of a call with a policy. */
#ifndef GFS_PIPELINE_H
#define GFS_PIPELINE_H

#include "policy.h"
#include "variants.h"

typedef struct gfs_granules {
  unsigned device; /* lines of 64 bytes in a device line, a power of two */
  unsigned page;   /* bytes of a page, beyond which no hardware prefetcher goes */
} gfs_granules;

/* dst[i] = sum over j of matrix[i][j] * src[j] on len bytes, for each stripe, the shards being in
 * memory: `path` is not GFS_PATH_cached. A pipelined policy prefetches the first lines of a stripe
 * while the last ones of the previous stripe are computed. A policy that the map does not support
 * runs each stripe as `default`. Takes up to 30 KiB of stack. */
void gfs_pipeline_run(const gfs_variants *variants, gfs_policy policy, gfs_granules granules,
                      gfs_path path, size_t len, const gfs_stripes *stripes);

#endif
