/* passes.h: calls that need several kernels, or whose shards are in memory. */
#ifndef GFS_ISAL_PASSES_H
#define GFS_ISAL_PASSES_H

#include "call.h"
#include "dispatch.h"

/* Run a call with passes like those of a codec's map. Takes 22 KiB of stack; calls of one pass are
 * handled separately to avoid this. */
void gfs_isal_apply_passes(const gfs_isal_call *call, gfs_operation operation, const gfs_isa *isa,
                           gfs_path path);

#endif
