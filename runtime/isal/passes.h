/* passes.h: calls that take more than one kernel, or shards that are in memory. */
#ifndef GFS_ISAL_PASSES_H
#define GFS_ISAL_PASSES_H

#include "apply.h"

/* gfs_isal_apply by passes, as a codec's map has them. Takes 22 KiB of the stack, which is why
 * calls of one pass are kept apart from it. */
void gfs_isal_apply_passes(const gfs_isal_call *call, gfs_operation operation, const gfs_isa *isa,
                           gfs_path path);

/* One output in plain C. */
void gfs_isal_apply_plain(const gfs_isal_call *call, gfs_operation operation, size_t output);

#endif
