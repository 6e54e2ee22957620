#include "transform.h"

#include <stdlib.h>

static void image_columns(const gfs_cantor *field, unsigned from, unsigned to, unsigned exponent,
                          uint8_t *column) {
  for (unsigned bit = 0; bit < 8; bit++)
    column[bit] = (uint8_t)(gfs_cantor_scale(field, 1u << (8 * from + bit), exponent) >> 8 * to);
}

void gfs_transform_table(const gfs_transform *t, const gfs_cantor *field, unsigned exponent,
                         uint8_t *table) {
  for (unsigned from = 0; from < t->planes; from++)
    for (unsigned to = 0; to < t->planes; to++) {
      uint8_t column[8];
      image_columns(field, from, to, exponent, column);
      gfs_tables_fill_map(t->format, column, table);
      table += gfs_tables_entry(t->format);
    }
}

static bool find_kernels(gfs_transform *t, const gfs_isa *isa) {
  unsigned both = 2 * t->planes;
  t->fft = gfs_dispatch_kernel(isa, GFS_OPERATION_fft, both, both, GFS_PATH_cached);
  t->ifft = gfs_dispatch_kernel(isa, GFS_OPERATION_ifft, both, both, GFS_PATH_cached);
  t->dot = gfs_dispatch_kernel(isa, GFS_OPERATION_dot, t->planes, t->planes, GFS_PATH_cached);
  t->mad = gfs_dispatch_kernel(isa, GFS_OPERATION_mad, 1, 1, GFS_PATH_cached);
  return t->fft != NULL && t->ifft != NULL && t->dot != NULL && t->mad != NULL;
}

gfsmith_status gfs_transform_create(gfs_transform *t, const gfs_cantor *field, unsigned planes,
                                    unsigned n) {
  const gfs_isa *isa = gfs_dispatch_isa();
  *t = (gfs_transform){.planes = planes};
  if (isa == NULL || !find_kernels(t, isa))
    return GFSMITH_EUNSUPPORTED;
  t->format = isa->format;
  t->entry = gfs_tables_entry(t->format) * planes * planes;
  const uint8_t unit[8] = {1, 2, 4, 8, 16, 32, 64, 128};
  gfs_tables_fill_map(t->format, unit, t->one);
  unsigned constants = n / 2;
  t->tables = calloc(constants, t->entry);
  if (t->tables == NULL)
    return GFSMITH_ENOMEM;
  for (unsigned c = 1; c < constants; c++)
    gfs_transform_table(t, field, field->logarithm[2 * c], t->tables + c * t->entry);
  return GFSMITH_OK;
}

void gfs_transform_destroy(gfs_transform *t) { free(t->tables); }

void gfs_transform_add(const gfs_transform *t, const gfs_rows *rows, unsigned at,
                       const gfs_rows *other, unsigned first, unsigned count) {
  for (unsigned p = 0; p < t->planes; p++) {
    const uint8_t *from = other->plane[p] + first * other->bytes;
    uint8_t *to = rows->plane[p] + at * rows->bytes;
    t->mad(count * rows->bytes, 1, t->one, &from, &to);
  }
}

/* The butterflies of rows `at` to at + d - 1 with the d rows behind them. point: that of row at.
 * With the constant 0 both transforms only add x to y. */
static void layer(const gfs_transform *t, gfsmith_kernel *run, const gfs_rows *rows, unsigned at,
                  unsigned d, unsigned point) {
  if (point / d == 0) {
    gfs_transform_add(t, rows, at + d, rows, at, d);
    return;
  }
  uint8_t *shard[2 * GFS_TRANSFORM_PLANES];
  for (unsigned p = 0; p < t->planes; p++) {
    shard[p] = rows->plane[p] + at * rows->bytes;
    shard[t->planes + p] = shard[p] + d * rows->bytes;
  }
  run(d * rows->bytes, 2 * t->planes, t->tables + point / d / 2 * t->entry,
      (const uint8_t *const *)shard, shard);
}

/* Both transforms process a half before the other, so that smaller transforms stay in the cache. */
static void interpolate(const gfs_transform *t, const gfs_rows *rows, unsigned at, unsigned size,
                        unsigned first, unsigned given) {
  unsigned half = size / 2;
  if (half == 0 || at >= given)
    return;
  interpolate(t, rows, at, half, first, given);
  interpolate(t, rows, at + half, half, first, given);
  layer(t, t->ifft, rows, at, half, first + at);
}

void gfs_transform_inverse(const gfs_transform *t, const gfs_rows *rows, unsigned size,
                           unsigned first, unsigned given) {
  interpolate(t, rows, 0, size, first, given);
}

static void evaluate(const gfs_transform *t, const gfs_rows *rows, unsigned at, unsigned size,
                     unsigned from, unsigned to) {
  unsigned half = size / 2;
  if (half == 0 || at >= to || at + size <= from)
    return;
  layer(t, t->fft, rows, at, half, at);
  evaluate(t, rows, at, half, from, to);
  evaluate(t, rows, at + half, half, from, to);
}

void gfs_transform_forward(const gfs_transform *t, const gfs_rows *rows, unsigned size,
                           unsigned from, unsigned to) {
  evaluate(t, rows, 0, size, from, to);
}

static void derive(const gfs_transform *t, const gfs_rows *rows, unsigned at, unsigned size) {
  unsigned half = size / 2;
  if (half == 0)
    return;
  derive(t, rows, at, half);
  gfs_transform_add(t, rows, at, rows, at + half, half);
  derive(t, rows, at + half, half);
}

void gfs_transform_derive(const gfs_transform *t, const gfs_rows *rows, unsigned size) {
  derive(t, rows, 0, size);
}
