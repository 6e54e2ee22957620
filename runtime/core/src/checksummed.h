/* checksummed.h: a map applied to shards whose checksums advance in the same pass over memory. */
#ifndef GFS_CHECKSUMMED_H
#define GFS_CHECKSUMMED_H

#include "crc_shards.h"
#include "map.h"

/* The shards of a call. */
typedef struct gfs_checked {
  gfs_crc_shards *sums;      /* of the inputs, then of the outputs */
  const uint8_t *const *src; /* map->inputs shards, read */
  uint8_t *const *dst;       /* map->outputs shards, written; NULL: compared with `stored` */
  const uint8_t *const *stored;
} gfs_checked;

/* Compute the outputs, or compare them, and advance the checksums of all shards. Are the outputs
 * equal? True if they are not compared. */
bool gfs_map_apply_checked(const gfs_map *map, gfsmith_hint hint, size_t len,
                           const gfs_checked *checked);

#endif
