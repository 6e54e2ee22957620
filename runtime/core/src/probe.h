/* probe.h: whether the sources of a large call are in the cache that all cores share. */
#ifndef GFS_PROBE_H
#define GFS_PROBE_H

#include <stddef.h>
#include <stdint.h>

#include "path.h"

/* The most bytes of all shards of a call that is not probed. */
#define GFS_PROBED_ABOVE ((size_t)512 << 10)

/* The path of a call without a hint whose path by its size is `path`: GFS_PATH_second if eight
 * lines of the sources answer as fast as the shared cache. Prefetches in steps and streaming stores
 * pay only for shards in memory. Calls of up to GFS_PROBED_ABOVE bytes keep their path, as the
 * time of the answers is not small compared with theirs; so do calls without sources, whose results
 * are 0, and CPUs without a clock of some nanoseconds.
 */
gfs_path gfs_path_probed(gfs_path path, unsigned shards, size_t len, const uint8_t *const *src,
                         unsigned inputs);

#endif
