#include "transform.h"

#include <stdlib.h>
#include <string.h>

enum { GROUP = 3 /* constants of two layers */ };

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
  unsigned both = 2 * t->planes, four = 4 * t->planes;
  t->fft = gfs_dispatch_kernel(isa, GFS_OPERATION_fft, both, both, GFS_PATH_cached);
  t->ifft = gfs_dispatch_kernel(isa, GFS_OPERATION_ifft, both, both, GFS_PATH_cached);
  t->fft4 = gfs_dispatch_kernel(isa, GFS_OPERATION_fft4, four, four, GFS_PATH_cached);
  t->ifft4 = gfs_dispatch_kernel(isa, GFS_OPERATION_ifft4, four, four, GFS_PATH_cached);
  t->dot = gfs_dispatch_kernel(isa, GFS_OPERATION_dot, t->planes, t->planes, GFS_PATH_cached);
  t->mad = gfs_dispatch_kernel(isa, GFS_OPERATION_mad, 1, 1, GFS_PATH_cached);
  return t->fft != NULL && t->ifft != NULL && t->dot != NULL && t->mad != NULL;
}

static uint8_t *group_of(const gfs_transform *t, unsigned c) {
  return t->groups + (size_t)c * GROUP * t->entry;
}

/* The table of the constant 2 c, the second or the third one of a group. */
static uint8_t *constant_of(const gfs_transform *t, unsigned c) {
  return group_of(t, c / 2) + (1 + c % 2) * t->entry;
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
  unsigned constants = n / 2, groups = (constants + 1) / 2;
  t->groups = calloc(groups, GROUP * t->entry);
  if (t->groups == NULL)
    return GFSMITH_ENOMEM;
  for (unsigned c = 1; c < constants; c++)
    gfs_transform_table(t, field, field->logarithm[2 * c], constant_of(t, c));
  for (unsigned c = 1; c < groups; c++)
    memcpy(group_of(t, c), constant_of(t, c), t->entry);
  return GFSMITH_OK;
}

void gfs_transform_destroy(gfs_transform *t) { free(t->groups); }

void gfs_transform_add(const gfs_transform *t, const gfs_rows *rows, unsigned at,
                       const gfs_rows *other, unsigned first, unsigned count) {
  for (unsigned p = 0; p < t->planes; p++) {
    const uint8_t *from = other->plane[p] + first * other->bytes;
    uint8_t *to = rows->plane[p] + at * rows->bytes;
    t->mad(count * rows->bytes, 1, t->one, &from, &to);
  }
}

/* The butterflies of `count` elements: the d rows from `at` on, the d rows behind them, and so on.
 */
static void butterflies(const gfs_transform *t, gfsmith_kernel *run, const uint8_t *table,
                        const gfs_rows *rows, unsigned at, unsigned d, unsigned count) {
  uint8_t *shard[4 * GFS_TRANSFORM_PLANES];
  for (unsigned i = 0; i < count; i++)
    for (unsigned p = 0; p < t->planes; p++)
      shard[i * t->planes + p] = rows->plane[p] + (at + (size_t)i * d) * rows->bytes;
  run(d * rows->bytes, count * t->planes, table, (const uint8_t *const *)shard, shard);
}

/* The layer of two times d rows. point: that of row at. With the constant 0 both transforms only
 * add x to y. */
static void layer(const gfs_transform *t, gfsmith_kernel *run, const gfs_rows *rows, unsigned at,
                  unsigned d, unsigned point) {
  if (point / d == 0) {
    gfs_transform_add(t, rows, at + d, rows, at, d);
    return;
  }
  butterflies(t, run, constant_of(t, point / d / 2), rows, at, d, 2);
}

/* The layers of four times d rows. */
static void two_layers(const gfs_transform *t, gfsmith_kernel *run, const gfs_rows *rows,
                       unsigned at, unsigned d, unsigned point) {
  butterflies(t, run, group_of(t, point / d / 4), rows, at, d, 4);
}

/* A transform's rows, of which those from `from` to `to` - 1 have values. */
typedef struct part {
  const gfs_transform *t;
  const gfs_rows *rows;
  unsigned first; /* the point of row 0 */
  unsigned from, to;
  gfs_row_visit values;
} part;

/* Both transforms process a half or a quarter before the next one, so that smaller transforms stay
 * in the cache. */
static void interpolate(const part *p, unsigned at, unsigned size) {
  unsigned half = size / 2, quarter = size / 4;
  if (at >= p->to)
    return;
  if (half == 0) {
    p->values.visit(p->values.context, p->rows, at);
  } else if (p->t->ifft4 != NULL && quarter > 0 && at + half < p->to) {
    for (unsigned i = 0; i < 4; i++)
      interpolate(p, at + i * quarter, quarter);
    two_layers(p->t, p->t->ifft4, p->rows, at, quarter, p->first + at);
  } else {
    interpolate(p, at, half);
    interpolate(p, at + half, half);
    layer(p->t, p->t->ifft, p->rows, at, half, p->first + at);
  }
}

void gfs_transform_inverse(const gfs_transform *t, const gfs_rows *rows, unsigned size,
                           unsigned first, unsigned given, gfs_row_visit fill) {
  const part p = {.t = t, .rows = rows, .first = first, .to = given, .values = fill};
  interpolate(&p, 0, size);
}

static void evaluate(const part *p, unsigned at, unsigned size) {
  unsigned half = size / 2, quarter = size / 4;
  if (at >= p->to || at + size <= p->from)
    return;
  if (half == 0) {
    p->values.visit(p->values.context, p->rows, at);
  } else if (p->t->fft4 != NULL && quarter > 0 && at + half < p->to && at + half > p->from) {
    two_layers(p->t, p->t->fft4, p->rows, at, quarter, p->first + at);
    for (unsigned i = 0; i < 4; i++)
      evaluate(p, at + i * quarter, quarter);
  } else {
    layer(p->t, p->t->fft, p->rows, at, half, p->first + at);
    evaluate(p, at, half);
    evaluate(p, at + half, half);
  }
}

void gfs_transform_forward(const gfs_transform *t, const gfs_rows *rows, unsigned size,
                           unsigned first, unsigned from, unsigned to, gfs_row_visit take) {
  const part p = {.t = t, .rows = rows, .first = first, .from = from, .to = to, .values = take};
  evaluate(&p, 0, size);
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
