/* planner.h: the planner, which creates the plan of a loss. */
#ifndef GFS_PLANNER_H
#define GFS_PLANNER_H

#include "codec.h"
#include "plan.h"

/* Write the loss that the flags of a call describe. Return the number of missing shards. */
unsigned gfs_loss_describe(const gfsmith_codec *codec, const bool *present, const bool *wanted,
                           gfs_loss *loss);

/* Create the plan of a loss. Errors as gfsmith_plan_create with valid arguments. */
gfsmith_status gfs_plan_create(gfsmith_plan **out, const gfsmith_codec *codec,
                               const gfs_loss *loss);

#endif
