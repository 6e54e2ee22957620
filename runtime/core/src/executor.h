/* executor.h: when the threads of an executor share a call. */
#ifndef GFS_EXECUTOR_H
#define GFS_EXECUTOR_H

#include "gfsmith_parallel.h"

/* Is a call on this number of shards, at most 2^16, of len bytes long enough to be shared? */
bool gfs_is_shared(const gfsmith_executor *executor, unsigned shards, size_t len);

#endif
