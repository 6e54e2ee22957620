/* wide_rows.h: slices of shards as rows of a transform. */
#ifndef GFS_WIDE_ROWS_H
#define GFS_WIDE_ROWS_H

#include "transform.h"
#include "wide_slices.h"

/* The places of the low and high bytes of a shard's elements. */
typedef enum gfs_wide_layout {
  GFS_WIDE_BYTES,  /* an element is a byte */
  GFS_WIDE_HALVES, /* of each 64 bytes, and of the rest, the first half is low, the second high */
  GFS_WIDE_WORDS   /* every word is a low byte and a high one */
} gfs_wide_layout;

/* Are the slices of shards like rows: bytes of one stripe? */
bool gfs_wide_is_row(gfs_wide_layout layout, const gfs_wide_slice *slice);

/* Are the slices of shards lines (gfs_ends), and rows those of one stripe? */
bool gfs_wide_has_lines(gfs_wide_layout layout, const gfs_wide_slice *slice);

/* Row i = a slice of a shard, split into planes. shard[s * pitch] is the address of the shard in
 * stripe s. */
void gfs_wide_load(gfs_wide_layout layout, const gfs_transform *t, const gfs_rows *rows, size_t i,
                   const gfs_wide_slice *slice, const uint8_t *const *shard, size_t pitch);

/* A slice of a shard = row i. gfs_stream_fence follows stores around the cache. */
void gfs_wide_store(gfs_wide_layout layout, const gfs_transform *t, const gfs_rows *rows, size_t i,
                    const gfs_wide_slice *slice, uint8_t *const *shard, size_t pitch,
                    gfs_stream stores);

/* The last layers of four rows, to the bytes of shards from `at` on, which are lines. */
void gfs_wide_store_lines(const gfs_end *end, uint8_t *const shard[GFS_END_ROWS], size_t at,
                          gfs_stream stores);

/* The same for products of the elements by the tables `scale`. shard: addresses of the lines, NULL
 * for an element that is not stored. */
void gfs_wide_store_scaled(const gfs_end *end, uint8_t *const shard[GFS_END_ROWS],
                           const uint8_t *const scale[GFS_END_ROWS], gfs_stream stores);

#endif
