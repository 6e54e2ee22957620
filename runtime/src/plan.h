/* plan.h: what a plan holds. */
#ifndef GFS_PLAN_H
#define GFS_PLAN_H

#include "gfsmith_plan.h"
#include "loss.h"
#include "map.h"
#include "packets.h"

/* The targets are the map of what is read, or in packet layout what the schedule computes of it;
 * the other is NULL, and both are if there are no targets. Immutable. */
struct gfsmith_plan {
  size_t bytes; /* of all its memory */
  gfs_loss loss;
  gfs_shards read;
  gfs_shards target;
  bool least;
  gfsmith_hint hint; /* of the codec when it was created */
  size_t packet;     /* the same; 0: not packet layout */
  gfs_map *map;
  gfs_schedule *schedule;
  uint8_t matrix[]; /* target.count rows of read.count */
};

/* Write the loss that the flags of a call describe. Returns how many shards are missing. */
unsigned gfs_loss_describe(const gfsmith_codec *codec, const bool *present, const bool *wanted,
                           gfs_loss *loss);

/* Work out the plan of a loss. Errors as gfsmith_plan_create for arguments that are valid. */
gfsmith_status gfs_plan_create(gfsmith_plan **out, const gfsmith_codec *codec,
                               const gfs_loss *loss);

/* Run it on shards that are where the hint says. */
gfsmith_status gfs_plan_run(const gfsmith_plan *plan, gfsmith_hint hint, size_t len,
                            uint8_t *const *shards);

#endif
