/* variants.h: the kernels that a map can be run with. */
#ifndef GFS_VARIANTS_H
#define GFS_VARIANTS_H

#include "dispatch.h"
#include "map.h"
#include "order.h"
#include "policy.h"

/* Pipelined kernels of a walk, by how they store; NULL where the build has none. `order` is of all
 * that are there. */
typedef struct gfs_variant {
  gfsmith_kernel *run[2]; /* of the map's first pass with tables; by gfs_store */
  gfs_order order;
} gfs_variant;

/* A map as policies run it. The first pass with tables reads memory, and is pipelined; the others,
 * over the same sources chunk by chunk, find them in cache. */
typedef struct gfs_variants {
  const gfs_map *map;
  gfs_variant variant[GFS_WALKS]; /* from GFS_WALK_PIPELINED on */
  gfsmith_kernel *(*table)[2];    /* of passes with tables, by gfs_store; of the first one NULL */
} gfs_variants;

/* Find what there is for a map. `table` has room for map->mads rows and is the variants' for as
 * long as they stand. */
void gfs_variants_find(gfs_variants *variants, const gfs_isa *isa, const gfs_map *map,
                       gfsmith_kernel *(*table)[2]);

/* Can the map be run with this policy? */
bool gfs_variants_have(const gfs_variants *variants, gfs_policy policy);

#endif
