/* apply.h: execution of a call with gfsmith's kernels. */
#ifndef GFS_ISAL_APPLY_H
#define GFS_ISAL_APPLY_H

#include "call.h"
#include "dispatch.h"

/* Run a call. operation: GFS_OPERATION_dot or GFS_OPERATION_mad. */
void gfs_isal_apply(const gfs_isal_call *call, gfs_operation operation);

#endif
