/* check_steps.h: the pieces of shards that a check compares one after the other. */
#ifndef GFS_CHECK_STEPS_H
#define GFS_CHECK_STEPS_H

#include <stddef.h>
#include <stdint.h>

#include "path.h"
#include "prefetch.h"
#include "sizes.h"

/* Checks compare shards in memory so many bytes of all shards at a time, within limits for a shard,
 * and prefetch GFS_CHECK_AHEAD bytes of each before. Measured on Zen 4 from 4+2 to 20+4: with steps
 * of 512 bytes, checks have down to 0.8 of this speed, at 4+2 also with steps of 128 bytes. */
#define GFS_CHECK_STEP 2560u
#define GFS_CHECK_STEP_MIN 128u
#define GFS_CHECK_STEP_MAX 512u
#define GFS_CHECK_AHEAD 512u

typedef struct gfs_check_steps {
  const uint8_t *const *shards;
  unsigned count;
  size_t len, most; /* bytes of a shard: all, and those of a step */
  size_t ahead;     /* bytes of a shard that are prefetched before a step; 0: none */
} gfs_check_steps;

/* Prefetch bytes start .. end of the shards, one after the other: a kernel reads a line of each in
 * turn, which no prefetcher of a CPU follows for many shards. */
static inline void gfs_check_fetch(const gfs_check_steps *steps, size_t start, size_t end) {
  for (unsigned j = 0; start < steps->len && j < steps->count; j++)
    gfs_prefetch_second(steps->shards[j] + start, gfs_least(end, steps->len) - start);
}

/* The steps of a check on this path, with at most `most` bytes of each of `count` shards. */
static inline gfs_check_steps gfs_check_steps_of(gfs_path path, const uint8_t *const *shards,
                                                 unsigned count, size_t len, size_t most) {
  gfs_check_steps steps = {shards, count, len, most, 0};
  if (gfs_path_is_cached(path))
    return steps;
  size_t share = GFS_CHECK_STEP / count / GFS_CHECK_STEP_MIN * GFS_CHECK_STEP_MIN;
  share = share < GFS_CHECK_STEP_MIN ? GFS_CHECK_STEP_MIN : gfs_least(share, GFS_CHECK_STEP_MAX);
  steps.most = gfs_least(most, share);
  steps.ahead = GFS_CHECK_AHEAD;
  gfs_check_fetch(&steps, 0, steps.ahead);
  return steps;
}

/* The bytes of the step that begins at `done`, which is less than len. */
static inline size_t gfs_check_next(const gfs_check_steps *steps, size_t done) {
  size_t part = gfs_least(steps->len - done, steps->most);
  if (steps->ahead > 0)
    gfs_check_fetch(steps, done + steps->ahead, done + steps->ahead + part);
  return part;
}

#endif
