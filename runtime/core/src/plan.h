/* plan.h: the members of a plan, and its execution. */
#ifndef GFS_PLAN_H
#define GFS_PLAN_H

#include "gfsmith_plan.h"
#include "loss.h"
#include "map.h"
#include "packets.h"
#include "recode.h"

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
  gfs_recode *recode; /* NULL: the map is faster for all lengths */
  gfs_schedule *schedule;
  uint8_t matrix[]; /* target.count rows of read.count */
};

/* Collect the pointers of the shards that the plan reads and of its targets, at most
 * GFSMITH_MAX_SHARDS of each. False: one of them is NULL. */
bool gfs_plan_select(const gfsmith_plan *plan, uint8_t *const *shards, const uint8_t **src,
                     uint8_t **dst);

/* Run the plan on shards that gfs_plan_select has collected, at the location that the hint gives.
 */
void gfs_plan_part(const gfsmith_plan *plan, gfsmith_hint hint, size_t len,
                   const uint8_t *const *src, uint8_t *const *dst);

/* Both together. */
gfsmith_status gfs_plan_run(const gfsmith_plan *plan, gfsmith_hint hint, size_t len,
                            uint8_t *const *shards);

#endif
