/* wide_slices.h: the slices of a call on wide codes. A task computes one slice after the other. */
#ifndef GFS_WIDE_SLICES_H
#define GFS_WIDE_SLICES_H

#include <stdbool.h>
#include <stddef.h>

#include "stream.h"

/* Bytes at, at + 1, .. of every shard of one stripe, or of every shard of consecutive stripes. A
 * row has the bytes of a shard of each of these stripes, one after the other: a call of a kernel
 * costs as much as about 10 lines of its work, so shards of few bytes share rows. */
typedef struct gfs_wide_slice {
  size_t stripe, stripes; /* the first one, and how many; 0 behind the last slice */
  size_t at, part;        /* the bytes of each shard */
} gfs_wide_slice;

typedef struct gfs_wide_slices {
  size_t len, count; /* bytes of a shard, stripes */
  size_t part;       /* most bytes of a shard in a slice */
  size_t stripes;    /* most stripes of a slice: 1 unless slices have whole shards */
  size_t total;      /* slices */
  size_t tasks;
  bool fetched;      /* prefetch slices of shards */
  unsigned ahead;    /* rows, the distance of prefetching */
  bool fetch_first;  /* into the first-level cache, except the next slice */
  bool kept;         /* the caches keep the next slice: prefetch it, too */
  gfs_stream stores; /* of results */
} gfs_wide_slices;

/* The work of a call: the number of shards of a stripe, of those that it reads, and of rows. */
typedef struct gfs_wide_demand {
  unsigned shards, sources;
  size_t rows;
  bool gapped;    /* there are gaps between rows */
  bool one_block; /* of an encoding: the shards behind block 0 are one block */
  bool repair;
} gfs_wide_demand;

/* Choose the slices of `count` stripes with shards of len bytes for at most `workers` tasks, both
 * at least 1. */
gfs_wide_slices gfs_wide_slices_of(size_t len, size_t count, const gfs_wide_demand *demand,
                                   size_t workers);

/* Slice number n. */
gfs_wide_slice gfs_wide_slice_at(const gfs_wide_slices *slices, size_t n);

/* Most bytes of a row. */
static inline size_t gfs_wide_row_most(const gfs_wide_slices *slices) {
  return slices->stripes * slices->part;
}

#endif
