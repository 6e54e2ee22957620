/* path.h: the path of a call, by which kernels are chosen. */
#ifndef GFS_PATH_H
#define GFS_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "gfsmith.h"

/* The location of the shards of a call, as far as it affects the choice of kernels. */
typedef enum gfs_path {
  GFS_PATH_cached,  /* in a first-level cache: no prefetch, ordinary stores */
  GFS_PATH_second,  /* in a second-level cache: the same, and other kernels may be tuned */
  GFS_PATH_nearby,  /* in memory, but too short for streaming stores: prefetch, ordinary stores */
  GFS_PATH_distant, /* in memory: prefetch, streaming stores */
  GFS_PATH_bulk,    /* the same with long shards, for which other kernels may be tuned */
  GFS_PATHS         /* number of paths */
} gfs_path;

/* The limits between paths that differ between CPUs. The generator derives them from measurements
 * (generator/gfsmith/kernel/limits.py); `gen` writes them to tuned.inc. */
typedef struct gfs_limits {
  /* The most bytes of a call whose shards are assumed to be in the first-level cache, beside the
   * stack and the pointers of the call. */
  size_t first_cache;
  /* The most bytes of a call whose shards are assumed to be in a core's own cache: half of its
   * second level. */
  size_t own_cache;
  /* The shortest shard for which streaming stores pay: with shorter ones the incomplete lines and
   * the fence cost more than reading the lines first. */
  size_t stream_min;
  /* The fewest bytes of a call of one pass on GFS_PATH_distant for which prefetching step by step
   * costs more than it gains; SIZE_MAX: it always pays. */
  size_t whole_min;
  /* True if wide codes prefetch the rows that follow into the first-level cache, not the second. */
  bool fetch_first;
  /* True if wide codes copy results around the cache by stores of whole lines, if the instruction
   * set has them. */
  bool stream_lines;
  /* The most bytes of all rows of 2 KiB of an encoding from memory with a wide code; more have rows
   * of 1 KiB. */
  size_t long_rows;
} gfs_limits;

/* The limits of this CPU; those of the best compromise if it is unknown. */
const gfs_limits *gfs_limits_here(void);

/* The least first_cache of all CPUs. The path of a call within it needs no look-up. */
#define GFS_FIRST_CACHE_LEAST ((size_t)63 << 9)

/* The least own_cache of all CPUs. */
#define GFS_OWN_CACHE_LEAST ((size_t)128 << 10)

/* The greatest own_cache of all CPUs. */
#define GFS_OWN_CACHE_MOST ((size_t)1 << 20)

/* The most bytes of all shards of a stripe that is prefetched while another one is computed: two
 * stripes then fit in a core's own cache. */
static inline size_t gfs_next_stripe_bytes(void) { return gfs_limits_here()->own_cache / 2; }

/* The fewest bytes of a call that several threads share by default: twice the largest second-level
 * cache of a core of current servers (2 MiB on x86-64 and Arm). Such shards come from a cache or
 * memory that all cores share, so no core has to fetch them from the cache of another one; and the
 * fastest kernels take several times as long for them as waking a thread takes (5 to 10
 * microseconds). */
#define GFS_SHARED_BYTES ((size_t)4 << 20)

/* The length of a shard from which the cost of its beginning is relatively small. On Zen 4 a
 * prefetch inside the kernel, in addition to that of whole steps, gains 8 to 25 % at 10+4 and 12+4
 * with tables at 1 and 4 KiB, 0 to 5 % at 16 KiB, and nothing beyond (docs/tuning.md). */
#define GFS_BULK_MIN ((size_t)16 << 10)

/* Is `len` from 1 to `most`? */
static inline bool gfs_length_within(size_t len, size_t most) { return len - 1 < most; }

/* Do shards of len bytes fit in a cache of this many bytes? */
static inline bool gfs_fit(unsigned shards, size_t len, size_t cache) {
  return len <= cache && len * shards <= cache;
}

/* Are the shards of a call on this path in a core's own caches? */
static inline bool gfs_path_is_cached(gfs_path path) { return path <= GFS_PATH_second; }

/* The path of a call on a CPU with these limits. */
static inline gfs_path gfs_path_within(const gfs_limits *limits, gfsmith_hint hint, unsigned shards,
                                       size_t len) {
  if (hint == GFSMITH_HINT_CACHED ||
      (hint == GFSMITH_HINT_AUTO && gfs_fit(shards, len, limits->own_cache)))
    return gfs_fit(shards, len, limits->first_cache) ? GFS_PATH_cached : GFS_PATH_second;
  if (len < limits->stream_min)
    return GFS_PATH_nearby;
  return len < GFS_BULK_MIN ? GFS_PATH_distant : GFS_PATH_bulk;
}

/* The path of a call on this number of shards of len bytes, inputs and outputs together. */
static inline gfs_path gfs_path_of(gfsmith_hint hint, unsigned shards, size_t len) {
  return hint != GFSMITH_HINT_STREAMING && gfs_fit(shards, len, GFS_FIRST_CACHE_LEAST)
             ? GFS_PATH_cached
             : gfs_path_within(gfs_limits_here(), hint, shards, len);
}

/* The same for checks, which read the results at once, so that streaming stores do not pay. */
static inline gfs_path gfs_path_of_check(gfsmith_hint hint, unsigned shards, size_t len) {
  gfs_path path = gfs_path_of(hint, shards, len);
  return path < GFS_PATH_distant ? path : GFS_PATH_nearby;
}

#endif
