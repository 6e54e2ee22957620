/* sizes.h: common sizes of the loops over shards. */
#ifndef GFS_SIZES_H
#define GFS_SIZES_H

#include <stddef.h>

#define GFS_CACHE_LINE 64u

/* Bytes of stack that a check uses for computed parities. */
#define GFS_CHECK_BYTES 16384u

static inline size_t gfs_least(size_t a, size_t b) { return a < b ? a : b; }

#endif
