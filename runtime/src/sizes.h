/* sizes.h: sizes that the loops over shards share. */
#ifndef GFS_SIZES_H
#define GFS_SIZES_H

#include <stddef.h>

#define GFS_CACHE_LINE 64u

/* What a check may take of the stack for parities that it computes. */
#define GFS_CHECK_BYTES 16384u

static inline size_t gfs_least(size_t a, size_t b) { return a < b ? a : b; }

#endif
