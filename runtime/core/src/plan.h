/* plan.h: the members of a plan, and its execution. */
#ifndef GFS_PLAN_H
#define GFS_PLAN_H

#include "gfsmith_plan.h"
#include "loss.h"
#include "map.h"
#include "packets.h"

/* A repair plan. The targets are computed from the read shards by a map or, in packet layout, by a
 * schedule; the other pointer is NULL, and both are NULL if there are no targets. Immutable. */
struct gfsmith_plan {
  size_t bytes; /* of all its memory */
  gfs_loss loss;
  gfs_shards read;
  gfs_shards target;
  bool least;
  gfsmith_hint hint; /* hint of the codec when the plan was created */
  size_t packet;     /* packet size of the codec then; 0: ordinary layout */
  gfs_map *map;
  gfs_schedule *schedule;
  uint8_t matrix[]; /* target.count rows of read.count */
};

/* Run the plan on shards at the location that the hint gives. */
gfsmith_status gfs_plan_run(const gfsmith_plan *plan, gfsmith_hint hint, size_t len,
                            uint8_t *const *shards);

#endif
