#include "wide_rows.h"

#include <stdalign.h>
#include <string.h>

#include "gfsmith_wide.h"
#include "inlining.h"
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

bool gfs_wide_is_row(gfs_wide_layout layout, const gfs_wide_slice *slice) {
  return layout == GFS_WIDE_BYTES && slice->stripes == 1;
}

bool gfs_wide_has_lines(gfs_wide_layout layout, const gfs_wide_slice *slice) {
  return gfs_wide_is_row(layout, slice) || (layout == GFS_WIDE_HALVES && slice->stripes == 1 &&
                                            slice->part % GFSMITH_WIDE_GRANULE == 0);
}

/* Bytes of a shard to the planes of a row: those of one stripe. */
static GFS_INLINED void split_piece(gfs_wide_layout layout, size_t bytes, const uint8_t *shard,
                                    uint8_t *low, uint8_t *high) {
  if (layout == GFS_WIDE_BYTES) {
    memcpy(low, shard, bytes);
    return;
  }
  size_t at = 0, elements = bytes / 2;
  for (; at + HALF <= elements; at += HALF)
    split(layout, HALF, shard + 2 * at, low + at, high + at);
  if (at < elements)
    split(layout, elements - at, shard + 2 * at, low + at, high + at);
}

static GFS_INLINED void join_piece(gfs_wide_layout layout, size_t bytes, const uint8_t *low,
                                   const uint8_t *high, uint8_t *shard) {
  if (layout == GFS_WIDE_BYTES) {
    memcpy(shard, low, bytes);
    return;
  }
  size_t at = 0, elements = bytes / 2;
  for (; at + HALF <= elements; at += HALF)
    join(layout, HALF, low + at, high + at, shard + 2 * at);
  if (at < elements)
    join(layout, elements - at, low + at, high + at, shard + 2 * at);
}

static size_t elements_of(gfs_wide_layout layout, size_t bytes) {
  return layout == GFS_WIDE_BYTES ? bytes : bytes / 2;
}

static GFS_INLINED void split_all(gfs_wide_layout layout, const gfs_wide_slice *slice,
                                  const uint8_t *const *shard, size_t pitch, uint8_t *low,
                                  uint8_t *high) {
  const size_t bytes = slice->part, at = slice->at, elements = elements_of(layout, bytes);
  for (size_t n = slice->stripes; n > 0; n--, shard += pitch, low += elements, high += elements)
    split_piece(layout, bytes, *shard + at, low, high);
}

/* The layout is a constant in each call, so that the loop over short shards has no other branches.
 */
void gfs_wide_load(gfs_wide_layout layout, const gfs_transform *t, const gfs_rows *rows, size_t i,
                   const gfs_wide_slice *slice, const uint8_t *const *shard, size_t pitch) {
  uint8_t *low = gfs_transform_plane(t, rows, i, 0);
  uint8_t *high = gfs_transform_plane(t, rows, i, t->planes - 1);
  shard += slice->stripe * pitch;
  if (layout == GFS_WIDE_BYTES)
    split_all(GFS_WIDE_BYTES, slice, shard, pitch, low, high);
  else if (layout == GFS_WIDE_HALVES)
    split_all(GFS_WIDE_HALVES, slice, shard, pitch, low, high);
  else
    split_all(GFS_WIDE_WORDS, slice, shard, pitch, low, high);
}

static GFS_INLINED void join_all(gfs_wide_layout layout, const gfs_wide_slice *slice,
                                 uint8_t *const *shard, size_t pitch, const uint8_t *low,
                                 const uint8_t *high) {
  const size_t bytes = slice->part, at = slice->at, elements = elements_of(layout, bytes);
  for (size_t n = slice->stripes; n > 0; n--, shard += pitch, low += elements, high += elements)
    join_piece(layout, bytes, low, high, *shard + at);
}

static GFS_NOT_INLINED void join_row(gfs_wide_layout layout, const gfs_wide_slice *slice,
                                     uint8_t *const *shard, size_t pitch, const uint8_t *low,
                                     const uint8_t *high) {
  if (layout == GFS_WIDE_BYTES)
    join_all(GFS_WIDE_BYTES, slice, shard, pitch, low, high);
  else if (layout == GFS_WIDE_HALVES)
    join_all(GFS_WIDE_HALVES, slice, shard, pitch, low, high);
  else
    join_all(GFS_WIDE_WORDS, slice, shard, pitch, low, high);
}

/* Copy around the cache, by stores that are not ordinary ones. */
static void stream_bytes(gfs_stream stores, uint8_t *to, const uint8_t *from, size_t bytes) {
  if (stores == GFS_STREAM_LINES)
    gfs_stream_copy_lines(to, from, bytes);
  else
    gfs_stream_copy(to, from, bytes);
}

/* Planes to a piece of a shard around the cache, whose lines need not begin where the shard does.
 */
static void stream_piece(gfs_wide_layout layout, gfs_stream stores, size_t bytes,
                         const uint8_t *low, const uint8_t *high, uint8_t *shard) {
  alignas(GFS_CACHE_LINE) uint8_t joined[GFS_ROWS_MOST];
  uint8_t *to = joined;
  const gfs_wide_slice one = {.stripes = 1, .part = bytes};
  join_row(layout, &one, &to, 0, low, high);
  stream_bytes(stores, shard, joined, bytes);
}

static bool has_whole_lines(const uint8_t *shard, size_t bytes) {
  return gfs_bytes_to_line(shard) == 0 && bytes % GFS_CACHE_LINE == 0;
}

/* The same for halves of complete lines. */
static void stream_halves(size_t bytes, const uint8_t *low, const uint8_t *high, uint8_t *shard) {
  for (size_t at = 0; at < bytes / 2; at += HALF) {
    gfs_stream_half(shard + 2 * at, low + at);
    gfs_stream_half(shard + 2 * at + HALF, high + at);
  }
}

static GFS_NOT_INLINED void stream_row(gfs_wide_layout layout, gfs_stream stores,
                                       const gfs_wide_slice *slice, uint8_t *const *shard,
                                       size_t pitch, const uint8_t *low, const uint8_t *high) {
  const size_t bytes = slice->part, elements = elements_of(layout, bytes);
  const gfs_wide_slice one = {.stripes = 1, .at = slice->at, .part = bytes};
  for (size_t n = slice->stripes; n > 0; n--, shard += pitch, low += elements, high += elements) {
    uint8_t *to = *shard + slice->at;
    /* Several stripes share a row if their shards are short. Then the incomplete lines at the ends
     * of a shard are a large part of it, and stores around the cache do not pay. */
    if (slice->stripes > 1 && !has_whole_lines(to, bytes))
      join_row(layout, &one, shard, 0, low, high);
    else if (layout == GFS_WIDE_BYTES)
      stream_bytes(stores, to, low, bytes);
    else if (layout == GFS_WIDE_HALVES && has_whole_lines(to, bytes))
      stream_halves(bytes, low, high, to);
    else
      stream_piece(layout, stores, bytes, low, high, to);
  }
}

void gfs_wide_store(gfs_wide_layout layout, const gfs_transform *t, const gfs_rows *rows, size_t i,
                    const gfs_wide_slice *slice, uint8_t *const *shard, size_t pitch,
                    gfs_stream stores) {
  const uint8_t *low = gfs_transform_plane(t, rows, i, 0);
  const uint8_t *high = gfs_transform_plane(t, rows, i, t->planes - 1);
  shard += slice->stripe * pitch;
  if (stores != GFS_STREAM_NONE)
    stream_row(layout, stores, slice, shard, pitch, low, high);
  else
    join_row(layout, slice, shard, pitch, low, high);
}

static GFS_NOT_INLINED void stream_lines(const gfs_end *end, uint8_t *const shard[GFS_END_ROWS],
                                         size_t at, gfs_stream stores) {
  alignas(GFS_CACHE_LINE) uint8_t joined[GFS_END_ROWS][GFS_ROWS_MOST];
  gfs_end_write(end, (uint8_t *const[]){joined[0], joined[1], joined[2], joined[3]}, 0);
  for (unsigned i = 0; i < GFS_END_ROWS; i++)
    stream_bytes(stores, shard[i] + at, joined[i], end->rows->bytes);
}

void gfs_wide_store_lines(const gfs_end *end, uint8_t *const shard[GFS_END_ROWS], size_t at,
                          gfs_stream stores) {
  if (stores != GFS_STREAM_NONE)
    stream_lines(end, shard, at, stores);
  else
    gfs_end_write(end, shard, at);
}

void gfs_wide_store_scaled(const gfs_end *end, uint8_t *const shard[GFS_END_ROWS],
                           const uint8_t *const scale[GFS_END_ROWS], gfs_stream stores) {
  const bool around = stores != GFS_STREAM_NONE;
  alignas(GFS_CACHE_LINE) uint8_t joined[GFS_END_ROWS][GFS_ROWS_MOST];
  uint8_t *to[GFS_END_ROWS];
  for (unsigned i = 0; i < GFS_END_ROWS; i++)
    to[i] = around || shard[i] == NULL ? joined[i] : shard[i];
  gfs_end_write_scaled(end, to, 0, scale);
  for (unsigned i = 0; i < GFS_END_ROWS; i++)
    if (around && shard[i] != NULL)
      stream_bytes(stores, shard[i], joined[i], end->rows->bytes);
}
