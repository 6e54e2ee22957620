#include "wide_slices.h"

#include "cpu.h"
#include "dispatch.h"
#include "rows.h"
#include "sizes.h"

enum {
  WORK_BYTES = 33 << 18,                 /* of all rows of a slice, unless slices are shortest */
  GAPPED_BYTES = WORK_BYTES / 521 * 512, /* of these, if the rest are gaps (transform.h) */
  KEPT_BYTES = 2 << 20,                  /* of the next slices of all shards, if caches keep them */
  WORK_GOAL = 512 << 10,                 /* of those of long rows */
  SHORT_ROW = 1024, /* the least row whose calls of kernels cost little beside a larger slice */
  LONG_ROW = 2048,
  ROWS_AHEAD = 4, /* rows, the distance of prefetching */
  AHEAD_LONG = ROWS_AHEAD * SHORT_ROW / LONG_ROW,
  SLICE_LEAST = 128 /* bytes of a row: whole vectors of each plane */
};

/* Bytes of a row, at most `most`, if there are at least so many slices. All but the last slice have
 * as many bytes. */
static size_t row_size(size_t most, size_t bytes, size_t least) {
  size_t needed = (bytes + most - 1) / most, slices = needed > least ? needed : least;
  size_t share = (bytes + slices - 1) / slices + SLICE_LEAST - 1;
  size_t size = gfs_least(most, share) / SLICE_LEAST * SLICE_LEAST;
  return gfs_least(size < SLICE_LEAST ? SLICE_LEAST : size, bytes);
}

/* Rows have parts of shards, or as many whole shards as fit. */
static void cut_rows(gfs_wide_slices *s, size_t row) {
  s->part = gfs_least(row, s->len);
  s->stripes = row / s->part;
  size_t groups = (s->count + s->stripes - 1) / s->stripes;
  s->total = groups * ((s->len + s->part - 1) / s->part);
}

/* The stores of results with so many bytes each that a call from memory computes. */
static gfs_stream stores_of(size_t len) {
  const gfs_limits *limits = gfs_limits_here();
  const gfs_isa *isa = gfs_dispatch_isa();
  if (!GFS_STREAM_EXISTS || len < limits->stream_min)
    return GFS_STREAM_NONE;
  bool lines = limits->stream_lines && isa != NULL && (isa->features & GFSMITH_CPU_AVX512F) != 0;
  return lines ? GFS_STREAM_LINES : GFS_STREAM_QUARTERS;
}

/* Bytes of a row of a call from memory. A repair has shorter calls of kernels, and so longer rows.
 * An encoding has long rows if they fit into the caches; several blocks lose by them. */
static size_t row_goal(const gfs_wide_demand *demand) {
  if (demand->repair)
    return WORK_GOAL / demand->rows > SHORT_ROW ? WORK_GOAL / demand->rows : SHORT_ROW;
  bool kept = demand->rows * LONG_ROW <= gfs_limits_here()->long_rows;
  return kept && demand->one_block ? LONG_ROW : SHORT_ROW;
}

/* Shards of fewer bytes are assumed to be in a core's own cache, or in one that is almost as fast.
 *
 * Others are prefetched, and slices are smaller then, but calls of kernels for shorter rows than
 * SHORT_ROW cost more than a larger slice. A repair, whose calls are shorter, prefetches the next
 * slice if the caches keep it, and a core's own cache has room for both. */
gfs_wide_slices gfs_wide_slices_of(size_t len, size_t count, const gfs_wide_demand *demand,
                                   size_t workers) {
  const size_t bytes = len * count;
  gfs_wide_slices s = {.len = len, .count = count};
  s.fetched = bytes >= GFS_SHARED_BYTES / demand->shards;
  s.fetch_first = gfs_limits_here()->fetch_first;
  s.stores = s.fetched ? stores_of(len) : GFS_STREAM_NONE;
  s.tasks = gfs_least(workers, (bytes - 1) / SLICE_LEAST + 1);
  const size_t work = demand->gapped ? GAPPED_BYTES : WORK_BYTES;
  size_t most = gfs_least(work / demand->rows, GFS_ROWS_MOST);
  size_t goal = gfs_least(most, row_goal(demand));
  s.ahead = !demand->repair && goal == LONG_ROW ? AHEAD_LONG : ROWS_AHEAD;
  s.kept = s.fetched && demand->repair && demand->sources * goal <= KEPT_BYTES;
  bool short_rows = s.kept || (s.fetched && !demand->repair);
  cut_rows(&s, row_size(short_rows ? goal : most, bytes, s.tasks));
  return s;
}

gfs_wide_slice gfs_wide_slice_at(const gfs_wide_slices *s, size_t n) {
  if (n >= s->total)
    return (gfs_wide_slice){.stripes = 0};
  size_t parts = (s->len + s->part - 1) / s->part;
  size_t stripe = n / parts * s->stripes, at = n % parts * s->part;
  return (gfs_wide_slice){.stripe = stripe,
                          .stripes = gfs_least(s->stripes, s->count - stripe),
                          .at = at,
                          .part = gfs_least(s->part, s->len - at)};
}
