/* repairs.h: plans made before, kept in the codec, by what is missing and what is wanted.
 *
 * Finding how lost shards follow from the others takes longer than a short shard's repair, and
 * while a disk or a node is down the same loss comes again and again. Looking up takes no lock. */
#ifndef GFS_REPAIRS_H
#define GFS_REPAIRS_H

#include <stdbool.h>

#include "gfsmith_plan.h"
#include "loss.h"

typedef struct gfs_repairs gfs_repairs;

/* An empty collection; NULL if there is no memory. */
gfs_repairs *gfs_repairs_create(void);

/* Free it and all plans in it. NULL is allowed and does nothing. */
void gfs_repairs_free(gfs_repairs *repairs);

/* The plan of this loss, valid as long as the collection is; NULL if it is not there. */
const gfsmith_plan *gfs_repairs_find(const gfs_repairs *repairs, const gfs_loss *loss);

/* Keep a plan, which then belongs to the collection. False if it does not take it: no room is
 * left, or another thread was first with the same loss. */
bool gfs_repairs_keep(gfs_repairs *repairs, gfsmith_plan *plan);

#endif
