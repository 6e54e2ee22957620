/* repairs.h: a codec's cache of plans, by missing and wanted shards.
 *
 * Computing a plan takes longer than the repair of a short shard, and while a disk or a node is
 * down the same loss recurs. Lookups take no lock. */
#ifndef GFS_REPAIRS_H
#define GFS_REPAIRS_H

#include <stdbool.h>

#include "gfsmith_plan.h"
#include "loss.h"

typedef struct gfs_repairs gfs_repairs;

/* Create an empty cache. NULL: out of memory. */
gfs_repairs *gfs_repairs_create(void);

/* Free the cache and all its plans. NULL is allowed. */
void gfs_repairs_free(gfs_repairs *repairs);

/* The plan of this loss, valid as long as the cache; NULL if the cache does not hold it. */
const gfsmith_plan *gfs_repairs_find(const gfs_repairs *repairs, const gfs_loss *loss);

/* Add a plan, which the cache then owns. False if it is refused: the cache is full, or another
 * thread has added a plan for the same loss. */
bool gfs_repairs_keep(gfs_repairs *repairs, gfsmith_plan *plan);

#endif
