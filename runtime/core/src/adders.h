/* adders.h: kernels that add the contribution of some data shards to the parities. */
#ifndef GFS_ADDERS_H
#define GFS_ADDERS_H

#include <stdbool.h>

#include "dispatch.h"
#include "map.h"

/* The most data shards that one kernel reads: their deltas and the parities stay in registers and
 * first-level cache, and their tables take at most 2 KiB. */
enum { GFS_SOURCES_MAX = 8 };

/* Kernels for the parities of one mad pass. */
typedef struct gfs_adder {
  gfsmith_kernel *set[GFS_PATHS];                  /* overwrites, from one source */
  gfsmith_kernel *add[GFS_SOURCES_MAX][GFS_PATHS]; /* adds, from one source, two, ... */
} gfs_adder;

typedef struct gfs_adders {
  unsigned most; /* the kernels exist for every number of sources up to this */
  bool sets;     /* do the overwriting kernels exist? */
  gfs_adder pass[];
} gfs_adders;

/* Find the kernels for every mad pass of an encoder; *out must be freed. Errors: GFSMITH_ENOMEM. */
gfsmith_status gfs_adders_create(gfs_adders **out, const gfs_isa *isa, const gfs_map *encoder);

#endif
