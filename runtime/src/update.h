/* update.h: kernels that add what some data shards contribute to the parities. */
#ifndef GFS_UPDATE_H
#define GFS_UPDATE_H

#include <stdbool.h>

#include "dispatch.h"
#include "map.h"

/* The most data shards that one kernel takes: their deltas and the parities stay in registers and
 * first-level cache, and their tables are 2 KiB at most. */
enum { GFS_SOURCES_MAX = 8 };

/* Kernels for the parities of one mad pass. */
typedef struct gfs_adder {
  gfsmith_kernel *set[GFS_PATHS];                  /* from one source */
  gfsmith_kernel *add[GFS_SOURCES_MAX][GFS_PATHS]; /* from one source, two, ... */
} gfs_adder;

typedef struct gfs_adders {
  unsigned most; /* sources at once, for any number of which up to this there are kernels */
  bool sets;     /* and are there those that set? */
  gfs_adder pass[];
} gfs_adders;

/* The kernels for every mad pass of an encoder: *out is to be freed. Errors: GFSMITH_ENOMEM. */
gfsmith_status gfs_adders_create(gfs_adders **out, const gfs_isa *isa, const gfs_map *encoder);

#endif
