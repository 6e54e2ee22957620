/* sizes.h: common sizes of the loops over shards. */
#ifndef GFS_SIZES_H
#define GFS_SIZES_H

#include <stddef.h>
#include <stdint.h>

#define GFS_CACHE_LINE 64u

/* Bytes of stack that a check uses for computed parities. */
#define GFS_CHECK_BYTES 16384u

static inline size_t gfs_least(size_t a, size_t b) { return a < b ? a : b; }

/* The distance of an address from the next cache line, or 0 if it is at the beginning of one. */
/*@ assigns \result \from \nothing;
  @ ensures \result < GFS_CACHE_LINE; */
static inline size_t gfs_bytes_to_line(const uint8_t *address) {
  return (GFS_CACHE_LINE - (uintptr_t)address % GFS_CACHE_LINE) % GFS_CACHE_LINE;
}

#endif
