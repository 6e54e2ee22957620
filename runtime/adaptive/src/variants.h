/* variants.h: the kernels with which a map can be run. */
#ifndef GFS_VARIANTS_H
#define GFS_VARIANTS_H

#include "dispatch.h"
#include "map.h"
#include "order.h"
#include "policy.h"

/* The pipelined kernels of a traversal order, by type of stores; NULL if the build has none. Both
 * have the same `order` and compute the same outputs. */
typedef struct gfs_variant {
  gfsmith_kernel *run[2]; /* for the map's first pass, by gfs_store */
  gfs_order order;
  bool
      known; /* the pass is the first dot pass, whose matrix is known; else the first with tables */
} gfs_variant;

/* A map with its kernels for policies. The first pass is pipelined and reads memory; the other
 * passes read the same sources chunk by chunk from the cache. */
typedef struct gfs_variants {
  const gfs_map *map;
  gfs_variant variant[GFS_WALKS]; /* from GFS_WALK_PIPELINED on */
  gfsmith_kernel *(*table)[2]; /* for passes with tables, by gfs_store; NULL for the first pass */
} gfs_variants;

/* Find the kernels for a map: for each traversal order those for the known matrix of its first pass
 * if there are some, else those with tables. `table` has space for map->mads rows and must live as
 * long as the variants. */
void gfs_variants_find(gfs_variants *variants, const gfs_isa *isa, const gfs_map *map,
                       gfsmith_kernel *(*table)[2]);

/* Does the build have the kernels to run the map with this policy? */
bool gfs_variants_have(const gfs_variants *variants, gfs_policy policy);

#endif
