/* wide_call.h: a call on a wide code, computed slice by slice (wide_slices.h). */
#ifndef GFS_WIDE_CALL_H
#define GFS_WIDE_CALL_H

#include <stdatomic.h>

#include "wide.h"
#include "wide_slices.h"

/* A task: its memory, at multiples of a cache line, and its slices. */
typedef struct gfs_wide_work {
  const gfs_transform *transform;
  uint8_t *spare; /* of gfs_transform_derived */
  uint8_t *start; /* of the rows */
  size_t most;    /* bytes of a row */
  gfs_wide_slice now, next;
} gfs_wide_work;

/* Stripes whose pointers stand one stripe after the other. */
typedef struct gfs_wide_stripes {
  size_t len, count;
} gfs_wide_stripes;

/* A call of which each task takes the next slice until there is none. */
typedef struct gfs_wide_call gfs_wide_call;
struct gfs_wide_call {
  void (*slice)(const gfs_wide_call *call, const gfs_wide_work *work);
  const gfsmith_wide *wide;
  const uint8_t *const *data;       /* or all shards */
  uint8_t *const *results;          /* parities, or all shards */
  unsigned sources, targets;        /* pointers of a stripe in both arrays */
  bool one_block;                   /* of an encoding: the shards behind block 0 are one block */
  const struct gfs_wide_loss *lost; /* of a repair */
  gfs_wide_slices slices;
  uint8_t *memory;
  size_t stride; /* bytes of a task's memory */
  atomic_size_t next;
};

/* The rows of the work from `first` on, which is 0, or a power of two as the number of rows. */
gfs_rows gfs_wide_rows_of(const gfs_wide_work *w, size_t first);

/* Before the row of a shard is read, if slices.fetched: prefetch the row slices.ahead behind
 * it, that of the shard `later` unless it is NULL, and the next slice of this shard. */
void gfs_wide_fetch(const gfs_wide_call *call, const gfs_wide_work *w, const uint8_t *const *shard,
                    const uint8_t *const *later);

/* Row i = a slice of a shard, after gfs_wide_fetch if slices.fetched. */
void gfs_wide_read(const gfs_wide_call *call, const gfs_wide_work *w, const gfs_rows *rows,
                   size_t i, const uint8_t *const *shard, const uint8_t *const *later);

/* A slice of a shard = row i. */
void gfs_wide_write(const gfs_wide_call *call, const gfs_wide_work *w, const gfs_rows *rows,
                    size_t i, uint8_t *const *shard);

/* Compute all slices, in this thread or in those of an executor. Errors: GFSMITH_EINVAL (more bytes
 * than addresses), GFSMITH_ENOMEM. */
gfsmith_status gfs_wide_run(gfs_wide_call *call, const gfs_wide_stripes *stripes, size_t rows,
                            const gfsmith_executor *executor);

#endif
