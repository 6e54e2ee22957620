#include "wide_rows.h"

#include <string.h>

#include "gfsmith_wide.h"
#include "sizes.h"
#include "stream.h"

enum { HALF = GFSMITH_WIDE_GRANULE / 2 };

/* `count` elements of a shard to their low and high bytes. */
static inline void split(gfs_wide_layout layout, size_t count, const uint8_t *restrict shard,
                         uint8_t *restrict low, uint8_t *restrict high) {
  if (layout == GFS_WIDE_HALVES) {
    memcpy(low, shard, count);
    memcpy(high, shard + count, count);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    low[i] = shard[2 * i];
    high[i] = shard[2 * i + 1];
  }
}

static inline void join(gfs_wide_layout layout, size_t count, const uint8_t *restrict low,
                        const uint8_t *restrict high, uint8_t *restrict shard) {
  if (layout == GFS_WIDE_HALVES) {
    memcpy(shard, low, count);
    memcpy(shard + count, high, count);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    shard[2 * i] = low[i];
    shard[2 * i + 1] = high[i];
  }
}

void gfs_wide_load(gfs_wide_layout layout, const gfs_transform *t, const gfs_rows *rows, size_t i,
                   const uint8_t *shard) {
  uint8_t *low = gfs_transform_plane(t, rows, i, 0);
  if (layout == GFS_WIDE_BYTES) {
    memcpy(low, shard, rows->bytes);
    return;
  }
  uint8_t *high = gfs_transform_plane(t, rows, i, 1);
  size_t at = 0, elements = rows->bytes / 2;
  for (; at + HALF <= elements; at += HALF)
    split(layout, HALF, shard + 2 * at, low + at, high + at);
  split(layout, elements - at, shard + 2 * at, low + at, high + at);
}

/* The planes of a row as bytes of a shard. */
static void join_row(gfs_wide_layout layout, const gfs_transform *t, const gfs_rows *rows, size_t i,
                     uint8_t *shard) {
  const uint8_t *low = gfs_transform_plane(t, rows, i, 0);
  if (layout == GFS_WIDE_BYTES) {
    memcpy(shard, low, rows->bytes);
    return;
  }
  const uint8_t *high = gfs_transform_plane(t, rows, i, 1);
  size_t at = 0, elements = rows->bytes / 2;
  for (; at + HALF <= elements; at += HALF)
    join(layout, HALF, low + at, high + at, shard + 2 * at);
  join(layout, elements - at, low + at, high + at, shard + 2 * at);
}

/* The same around the cache, whose lines need not begin where the shard does. */
static void stream_row(gfs_wide_layout layout, const gfs_transform *t, const gfs_rows *rows,
                       size_t i, uint8_t *shard) {
  uint8_t joined[GFS_WIDE_SLICE_MOST];
  join_row(layout, t, rows, i, joined);
  gfs_stream_copy(shard, joined, rows->bytes);
}

static bool has_whole_lines(const uint8_t *shard, size_t bytes) {
  return gfs_bytes_to_line(shard) == 0 && bytes % GFS_CACHE_LINE == 0;
}

/* The same for halves of complete lines. */
static void stream_halves(const gfs_transform *t, const gfs_rows *rows, size_t i, uint8_t *shard) {
  const uint8_t *low = gfs_transform_plane(t, rows, i, 0);
  const uint8_t *high = gfs_transform_plane(t, rows, i, 1);
  for (size_t at = 0; at < rows->bytes / 2; at += HALF) {
    gfs_stream_half(shard + 2 * at, low + at);
    gfs_stream_half(shard + 2 * at + HALF, high + at);
  }
}

void gfs_wide_store(gfs_wide_layout layout, const gfs_transform *t, const gfs_rows *rows, size_t i,
                    uint8_t *shard, bool stream) {
  if (!stream)
    join_row(layout, t, rows, i, shard);
  else if (layout == GFS_WIDE_HALVES && has_whole_lines(shard, rows->bytes))
    stream_halves(t, rows, i, shard);
  else
    stream_row(layout, t, rows, i, shard);
}
