/* rows.h: rows of bytes, of which every one has the elements of a point or of a coefficient. */
#ifndef GFS_ROWS_H
#define GFS_ROWS_H

#include <stddef.h>
#include <stdint.h>

/* Rows of `bytes` bytes, first the low bytes of their elements, then the high ones.
 *
 * Four lines that belong to no row follow every 2^run rows, the fewest with 16 KiB, and four more
 * every 8 of these. Without them the 16 rows of kernels for four layers would share the sets of a
 * cache at a distance of 16 KiB; without such kernels there are none. Kernels compute these lines,
 * too, with the rows around them; nothing reads the results. */
typedef struct gfs_rows {
  size_t bytes;
  unsigned run;
  uint8_t *start;
} gfs_rows;

enum {
  GFS_ROWS_MOST = 4096, /* most bytes of a row */
  GFS_ROWS_ALL = 31,
  GFS_ROWS_RUN = 16384,
  GFS_ROWS_RUNS = 8,
  GFS_ROWS_GAP = 256
};

/* The offset of row i. If a power of two above i divides n, that between rows n and n + i does not
 * depend on n. */
static inline size_t gfs_rows_offset(const gfs_rows *rows, size_t i) {
  size_t runs = i >> rows->run;
  return i * rows->bytes + (runs + runs / GFS_ROWS_RUNS) * GFS_ROWS_GAP;
}

static inline uint8_t *gfs_rows_row(const gfs_rows *rows, size_t i) {
  return rows->start + gfs_rows_offset(rows, i);
}

/* Rows from .. to - 1 = 0. */
void gfs_rows_clear(const gfs_rows *rows, size_t from, size_t to);

#endif
