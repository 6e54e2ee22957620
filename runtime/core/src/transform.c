#include "transform.h"

#include <stdlib.h>
#include <string.h>

#include "inlining.h"

enum {
  GROUP = 3,      /* constants of two layers */
  FOUR_ROWS = 16, /* of four layers, with a constant less */
  SUBFIELD = 256, /* the constants below are in GF(2^8) */
  BYTE_GROUPS = SUBFIELD / 4,
  END_PLANES = GFS_END_ROWS * GFS_TRANSFORM_PLANES, /* of a kernel of gfs_ends */
  SCALED_TABLES = GROUP + GFS_END_ROWS, /* of a kernel of products of elements in lines */
  POWERS_OF_4 = 0x15555,                /* up to the greatest number of points */
  LINE_PART = 32,                       /* low or high bytes of a line */
  DERIVED_PIECE = 1024, /* most bytes of a piece of a derivative, unless a row has more */
  KEPT_ROWS = 3 << 19   /* of rows that a core's own cache keeps */
};

/* An element in the other basis, in which the high byte is the same. */
static unsigned other_basis(const gfs_transform *t, unsigned x) { return x ^ t->image[x >> 8]; }

static void fill_table(const gfs_transform *t, const gfs_cantor *field, unsigned planes,
                       unsigned exponent, const gfs_basis basis[2], uint8_t *table) {
  for (unsigned from = 0; from < planes; from++) {
    uint8_t column[GFS_TRANSFORM_PLANES][8];
    for (unsigned bit = 0; bit < 8; bit++) {
      unsigned x = 1u << (8 * from + bit);
      x = gfs_cantor_scale(field, basis[0] == GFS_BASIS_ROW ? other_basis(t, x) : x, exponent);
      x = basis[1] == GFS_BASIS_ROW ? other_basis(t, x) : x;
      for (unsigned to = 0; to < planes; to++)
        column[to][bit] = (uint8_t)(x >> 8 * to);
    }
    for (unsigned to = 0; to < planes; to++) {
      gfs_tables_fill_map(t->format, column[to], table);
      table += gfs_tables_entry(t->format);
    }
  }
}

void gfs_transform_table(const gfs_transform *t, const gfs_cantor *field, unsigned exponent,
                         gfs_basis from, gfs_basis to, uint8_t *table) {
  fill_table(t, field, t->planes, exponent, (gfs_basis[]){from, to}, table);
}

static bool find_kernels(gfs_butterflies *b, const gfs_isa *isa, unsigned planes) {
  unsigned both = 2 * planes, four = 4 * planes;
  b->planes = planes;
  b->fft = gfs_dispatch_kernel(isa, GFS_OPERATION_fft, both, both, GFS_PATH_cached);
  b->ifft = gfs_dispatch_kernel(isa, GFS_OPERATION_ifft, both, both, GFS_PATH_cached);
  b->fft4 = gfs_dispatch_kernel(isa, GFS_OPERATION_fft4, four, four, GFS_PATH_cached);
  b->ifft4 = gfs_dispatch_kernel(isa, GFS_OPERATION_ifft4, four, four, GFS_PATH_cached);
  return b->fft != NULL && b->ifft != NULL;
}

static gfsmith_kernel *four_kernel(const gfs_isa *isa, gfs_operation operation) {
  return gfs_dispatch_kernel(isa, operation, FOUR_ROWS, FOUR_ROWS, GFS_PATH_cached);
}

static void find_fours(gfs_fours *fours, const gfs_isa *isa) {
  const gfs_fours found = {.fft16 = four_kernel(isa, GFS_OPERATION_fft16),
                           .ifft16 = four_kernel(isa, GFS_OPERATION_ifft16),
                           .refft16 = four_kernel(isa, GFS_OPERATION_refft16)};
  if (found.fft16 != NULL && found.ifft16 != NULL)
    *fours = found;
}

static gfsmith_kernel *end_kernel(const gfs_transform *t, const gfs_isa *isa,
                                  gfs_operation operation) {
  const unsigned shards = GFS_END_ROWS * t->planes;
  return gfs_dispatch_kernel(isa, operation, shards, shards, GFS_PATH_cached);
}

/* The kernels for elements in lines, unless the set lacks one. */
static void find_ends(gfs_transform *t, const gfs_isa *isa) {
  gfs_ends found = {.first = t->bytes.ifft4,
                    .last = t->bytes.fft4,
                    .scaled_first = end_kernel(t, isa, GFS_OPERATION_ifft4scaled),
                    .scaled_last = end_kernel(t, isa, GFS_OPERATION_fft4scaled)};
  if (t->planes > 1) {
    found.first = end_kernel(t, isa, GFS_OPERATION_ifft4lines);
    found.last = end_kernel(t, isa, GFS_OPERATION_fft4lines);
  }
  if (found.first != NULL && found.last != NULL)
    t->ends = found;
}

static bool find_all_kernels(gfs_transform *t, const gfs_isa *isa) {
  find_fours(&t->fours, isa);
  t->dot = gfs_dispatch_kernel(isa, GFS_OPERATION_dot, t->planes, t->planes, GFS_PATH_cached);
  t->mad = gfs_dispatch_kernel(isa, GFS_OPERATION_mad, 1, 1, GFS_PATH_cached);
  t->mads = gfs_dispatch_kernel(isa, GFS_OPERATION_mad, 0, 1, GFS_PATH_cached);
  bool found = t->dot != NULL && t->mad != NULL && find_kernels(&t->bytes, isa, 1) &&
               (t->planes == 1 || find_kernels(&t->words, isa, t->planes));
  find_ends(t, isa);
  return found;
}

static uint8_t *group_of(const gfs_butterflies *b, unsigned c) {
  return b->groups + (c - b->least) * b->group;
}

/* The table of the constant 2 c, the second or the third one of a group. */
static uint8_t *constant_of(const gfs_butterflies *b, unsigned c) {
  return group_of(b, c / 2) + (1 + c % 2) * b->entry;
}

/* True if the tables of `b` also have the change of the basis, for elements in lines. */
static bool has_ends(const gfs_transform *t, const gfs_butterflies *b) {
  return t->planes > 1 && b == &t->words && t->ends.first != NULL;
}

/* Make the tables of the constants of group c, of so many layers: the constant 2 c, then for each
 * constant of a layer two times it and this plus 2. That of 0 is left as it is. */
static void fill_group(const gfs_transform *t, const gfs_cantor *field, unsigned planes,
                       unsigned layers, unsigned c, uint8_t *table) {
  static const gfs_basis rows[] = {GFS_BASIS_ROW, GFS_BASIS_ROW};
  const size_t entry = gfs_tables_entry(t->format) * planes * planes;
  for (unsigned h = 1; h <= layers; h++)
    for (unsigned constant = c << h; constant < (c + 1) << h; constant += 2, table += entry)
      if (constant != 0)
        fill_table(t, field, planes, field->logarithm[constant], rows, table);
}

/* Make the tables of the groups `least` to end - 1. */
static gfsmith_status fill_groups(const gfs_transform *t, gfs_butterflies *b,
                                  const gfs_cantor *field, unsigned least, unsigned end) {
  b->entry = gfs_tables_entry(t->format) * b->planes * b->planes;
  b->group = GROUP * b->entry + (has_ends(t, b) ? gfs_tables_entry(t->format) * b->planes : 0);
  b->least = least;
  if (least >= end)
    return GFSMITH_OK;
  b->groups = calloc(end - least, b->group);
  if (b->groups == NULL)
    return GFSMITH_ENOMEM;
  for (unsigned c = least; c < end; c++) {
    fill_group(t, field, b->planes, 2, c, group_of(b, c));
    if (has_ends(t, b))
      memcpy(group_of(b, c) + GROUP * b->entry, t->change, gfs_tables_entry(t->format));
  }
  return GFSMITH_OK;
}

static size_t four_bytes(const gfs_transform *t) {
  return (FOUR_ROWS - 1) * gfs_tables_entry(t->format);
}

static gfsmith_status fill_fours(gfs_transform *t, const gfs_cantor *field, unsigned n) {
  const unsigned most = SUBFIELD / FOUR_ROWS, all = n / FOUR_ROWS, count = all < most ? all : most;
  if (t->fours.fft16 == NULL || count == 0)
    return GFSMITH_OK;
  t->fours.groups = calloc(count, four_bytes(t));
  if (t->fours.groups == NULL)
    return GFSMITH_ENOMEM;
  for (unsigned c = 0; c < count; c++)
    fill_group(t, field, 1, 4, c, t->fours.groups + c * four_bytes(t));
  return GFSMITH_OK;
}

/* The low byte of b[8] b[i] is the image of bit i; its high byte is 1 << i (test_wide.py). */
static void fill_change(gfs_transform *t, const gfs_cantor *field) {
  uint8_t column[8];
  for (unsigned bit = 0; bit < 8; bit++) {
    column[bit] = (uint8_t)gfs_cantor_scale(field, 1u << 8, field->logarithm[1u << bit]);
    for (unsigned high = 0; high < 1u << bit; high++)
      t->image[high | 1u << bit] = (uint8_t)(t->image[high] ^ column[bit]);
  }
  gfs_tables_fill_map(t->format, column, t->change);
}

gfsmith_status gfs_transform_create(gfs_transform *t, const gfs_cantor *field, unsigned planes,
                                    unsigned n) {
  const gfs_isa *isa = gfs_dispatch_isa();
  *t = (gfs_transform){.planes = planes, .kept = KEPT_ROWS};
  if (isa == NULL || !find_all_kernels(t, isa))
    return GFSMITH_EUNSUPPORTED;
  t->format = isa->format;
  t->entry = gfs_tables_entry(t->format) * planes * planes;
  const uint8_t unit[8] = {1, 2, 4, 8, 16, 32, 64, 128};
  for (unsigned i = 0; i < GFS_ADDED_MOST; i++)
    gfs_tables_fill_map(t->format, unit, t->ones + i * gfs_tables_entry(t->format));
  if (planes > 1)
    fill_change(t, field);
  unsigned groups = (n / 2 + 1) / 2, first = groups < BYTE_GROUPS ? groups : BYTE_GROUPS;
  gfsmith_status status = fill_groups(t, &t->bytes, field, 0, first);
  if (status == GFSMITH_OK)
    status = fill_groups(t, &t->words, field, has_ends(t, &t->words) ? 0 : first, groups);
  if (status == GFSMITH_OK)
    status = fill_fours(t, field, n);
  return status;
}

void gfs_transform_destroy(gfs_transform *t) {
  free(t->bytes.groups);
  free(t->words.groups);
  free(t->fours.groups);
}

/* The bytes of `count` rows that a call computes together, without lines behind the last one. */
static size_t together_bytes(const gfs_rows *rows, unsigned count) {
  return gfs_rows_offset(rows, count - 1) + rows->bytes;
}

void gfs_transform_add(const gfs_transform *t, const gfs_rows *rows, unsigned at,
                       const gfs_rows *other, unsigned first, unsigned count) {
  const uint8_t *from = gfs_rows_row(other, first);
  uint8_t *to = gfs_rows_row(rows, at);
  t->mad(together_bytes(rows, count), 1, t->ones, &from, &to);
}

void gfs_transform_change(const gfs_transform *t, const gfs_rows *rows, unsigned row) {
  if (t->planes == 1)
    return;
  uint8_t *low = gfs_transform_plane(t, rows, row, 0);
  const uint8_t *high = gfs_transform_plane(t, rows, row, 1);
  t->mad(rows->bytes / t->planes, 1, t->change, &high, &low);
}

/* The kernels for the constants from `constant` on, which are in one group. */
static const gfs_butterflies *kernels_for(const gfs_transform *t, unsigned constant) {
  return constant < SUBFIELD ? &t->bytes : &t->words;
}

/* The butterflies of `count` elements of so many planes: the d rows from `at` on, the d rows behind
 * them, and so on. If elements have several planes, each call takes one row of each element. */
static GFS_INLINED void butterflies_of_planes(unsigned planes, gfsmith_kernel *run,
                                              const uint8_t *table, const gfs_rows *rows,
                                              unsigned at, unsigned d, unsigned count) {
  uint8_t *shard[4 * GFS_TRANSFORM_PLANES];
  const unsigned together = planes == 1 ? d : 1;
  const size_t len = together_bytes(rows, together) / planes;
  for (unsigned row = at; row < at + d; row += together) {
    for (unsigned i = 0; i < count; i++) {
      shard[i * planes] = gfs_rows_row(rows, row + (size_t)i * d);
      for (unsigned p = 1; p < planes; p++)
        shard[i * planes + p] = shard[i * planes] + p * len;
    }
    run(len, (size_t)count * planes, table, (const uint8_t *const *)shard, shard);
  }
}

/* The number of planes is a constant in each call, so that loops over planes are unrolled. */
static GFS_INLINED void butterflies(const gfs_butterflies *b, gfsmith_kernel *run,
                                    const uint8_t *table, const gfs_rows *rows, unsigned at,
                                    unsigned d, unsigned count) {
  if (b->planes == 1)
    butterflies_of_planes(1, run, table, rows, at, d, count);
  else
    butterflies_of_planes(GFS_TRANSFORM_PLANES, run, table, rows, at, d, count);
}

/* The layer of two times d rows. point: that of row at. With the constant 0 both transforms only
 * add x to y. */
static void layer(const gfs_transform *t, bool inverse, const gfs_rows *rows, unsigned at,
                  unsigned d, unsigned point) {
  if (point / d == 0) {
    gfs_transform_add(t, rows, at + d, rows, at, d);
    return;
  }
  const gfs_butterflies *b = kernels_for(t, point / d);
  butterflies(b, inverse ? b->ifft : b->fft, constant_of(b, point / d / 2), rows, at, d, 2);
}

/* The layers of four times d rows. */
static void two_layers(const gfs_transform *t, bool inverse, const gfs_rows *rows, unsigned at,
                       unsigned d, unsigned point) {
  const gfs_butterflies *b = kernels_for(t, point / d);
  butterflies(b, inverse ? b->ifft4 : b->fft4, group_of(b, point / d / 4), rows, at, d, 4);
}

/* A transform's rows, of which those from `from` to `to` - 1 have values. */
typedef struct part {
  const gfs_transform *t;
  const gfs_rows *rows;
  unsigned first; /* the point of row 0 */
  unsigned from, to;
  gfs_row_visit values;
} part;

static part transform_part(const gfs_transform *t, const gfs_rows *rows, unsigned first,
                           unsigned from, unsigned to, gfs_row_visit values) {
  if (t->ends.first == NULL)
    values.visit_end = NULL;
  return (part){t, rows, first, from, to, values};
}

/* True if the transform of so many rows begins or ends with two layers of four of them. With
 * visit_end, other rows than four are never left for one layer. */
static bool has_two_layers(const part *p, unsigned size) {
  const gfs_transform *t = p->t;
  bool bytes = t->bytes.fft4 != NULL && t->bytes.ifft4 != NULL;
  bool words = t->planes == 1 || (t->words.fft4 != NULL && t->words.ifft4 != NULL);
  return bytes && words && size >= 4 && (p->values.visit_end == NULL || (size & POWERS_OF_4) != 0);
}

/* True if the transform of the rows from `at` on begins or ends with four layers: their constants
 * are in GF(2^8). With visit_end, four rows are left for it. For few of the rows, too: four layers
 * of all rows cost less than a layer of all, the next one of a half and so on. */
static bool has_four_layers(const part *p, unsigned at, unsigned size) {
  const unsigned d = size / FOUR_ROWS, least = p->values.visit_end == NULL ? 1 : GFS_END_ROWS;
  return p->t->fours.fft16 != NULL && d >= least && (p->first + at) / d < SUBFIELD;
}

/* The number of blocks of d rows from row `at` on that have values, or more. */
static unsigned filled_blocks(const part *p, unsigned at, unsigned d) {
  return (p->to - at + d - 1) / d;
}

/* The addresses of the rows at, at + d, .. of 16. */
static void every_row(const gfs_rows *rows, unsigned at, unsigned d, uint8_t *row[FOUR_ROWS]) {
  for (unsigned i = 0; i < FOUR_ROWS; i++)
    row[i] = gfs_rows_row(rows, at + (size_t)i * d);
}

/* Run a kernel of four layers. It reads zeros instead of the sources behind the first `filled`
 * ones; there are at most GFS_ROWS_MOST bytes then. */
static void run_sixteen(gfsmith_kernel *run, const uint8_t *table, size_t bytes, unsigned filled,
                        uint8_t *const from[FOUR_ROWS], uint8_t *const to[FOUR_ROWS]) {
  static const uint8_t zeros[GFS_ROWS_MOST];
  const uint8_t *src[FOUR_ROWS];
  for (unsigned i = 0; i < FOUR_ROWS; i++)
    src[i] = i < filled ? from[i] : zeros;
  run(bytes, FOUR_ROWS, table, src, to);
}

/* Most of d rows, a power of two, that have at most `most` bytes; at least one. */
static unsigned piece_rows(const gfs_rows *rows, unsigned d, size_t most) {
  while (d > 1 && together_bytes(rows, d) > most)
    d /= 2;
  return d;
}

/* Run a kernel of four layers on 16 times d rows, of which those behind the first `filled` blocks
 * are 0. */
static void run_fours(const gfs_rows *rows, gfsmith_kernel *run, const uint8_t *table,
                      unsigned filled, unsigned at, unsigned d) {
  const unsigned together = filled < FOUR_ROWS ? piece_rows(rows, d, GFS_ROWS_MOST) : d;
  for (unsigned i = 0; i < d; i += together) {
    uint8_t *row[FOUR_ROWS];
    every_row(rows, at + i, d, row);
    run_sixteen(run, table, together_bytes(rows, together), filled, row, row);
  }
}

/* The table of four layers on 16 times d rows, whose constants are in GF(2^8). */
static const uint8_t *fours_table(const part *p, unsigned at, unsigned d) {
  return p->t->fours.groups + (p->first + at) / d / FOUR_ROWS * four_bytes(p->t);
}

static void four_layers(const part *p, bool inverse, unsigned at, unsigned d) {
  const gfs_fours *fours = &p->t->fours;
  const unsigned filled = inverse ? filled_blocks(p, at, d) : FOUR_ROWS;
  run_fours(p->rows, inverse ? fours->ifft16 : fours->fft16, fours_table(p, at, d), filled, at, d);
}

/* Let the visitor compute the two layers of four rows from or to lines. Returns false if it does
 * not. */
static bool visit_end(const part *p, unsigned at) {
  if (p->values.visit_end == NULL || at < p->from || at + GFS_END_ROWS > p->to)
    return false;
  const gfs_butterflies *b = p->t->planes == 1 ? &p->t->bytes : &p->t->words;
  const uint8_t *table = group_of(b, (p->first + at) / GFS_END_ROWS);
  const gfs_end end = {.t = p->t, .rows = p->rows, .row = at, .table = table};
  return p->values.visit_end(p->values.context, &end);
}

/* The planes of four rows, which are contiguous. */
static GFS_INLINED void end_planes(const gfs_end *end, unsigned planes, uint8_t *rows[END_PLANES]) {
  uint8_t *first = gfs_rows_row(end->rows, end->row);
  for (unsigned i = 0; i < GFS_END_ROWS * planes; i++)
    rows[i] = first + i * (end->rows->bytes / planes);
}

static GFS_INLINED void end_read_planes(const gfs_end *end, unsigned planes, gfsmith_kernel *run,
                                        const uint8_t *table,
                                        const uint8_t *const shard[GFS_END_ROWS], size_t at) {
  const uint8_t *src[END_PLANES];
  uint8_t *dst[END_PLANES];
  end_planes(end, planes, dst);
  for (unsigned i = 0; i < GFS_END_ROWS; i++)
    for (unsigned p = 0; p < planes; p++)
      src[i * planes + p] = shard[i] + at + p * LINE_PART;
  run(end->rows->bytes / planes, (size_t)GFS_END_ROWS * planes, table, src, dst);
}

static GFS_INLINED void end_write_planes(const gfs_end *end, unsigned planes, gfsmith_kernel *run,
                                         const uint8_t *table, uint8_t *const shard[GFS_END_ROWS],
                                         size_t at) {
  uint8_t *src[END_PLANES], *dst[END_PLANES];
  end_planes(end, planes, src);
  for (unsigned i = 0; i < GFS_END_ROWS; i++)
    for (unsigned p = 0; p < planes; p++)
      dst[i * planes + p] = shard[i] + at + p * LINE_PART;
  run(end->rows->bytes / planes, (size_t)GFS_END_ROWS * planes, table, (const uint8_t *const *)src,
      dst);
}

/* The number of planes is a constant in each call, so that loops over planes are unrolled. */
static void read_end(const gfs_end *end, gfsmith_kernel *run, const uint8_t *table,
                     const uint8_t *const shard[GFS_END_ROWS], size_t at) {
  if (end->t->planes == 1)
    end_read_planes(end, 1, run, table, shard, at);
  else
    end_read_planes(end, GFS_TRANSFORM_PLANES, run, table, shard, at);
}

static void write_end(const gfs_end *end, gfsmith_kernel *run, const uint8_t *table,
                      uint8_t *const shard[GFS_END_ROWS], size_t at) {
  if (end->t->planes == 1)
    end_write_planes(end, 1, run, table, shard, at);
  else
    end_write_planes(end, GFS_TRANSFORM_PLANES, run, table, shard, at);
}

void gfs_end_read(const gfs_end *end, const uint8_t *const shard[GFS_END_ROWS], size_t at) {
  read_end(end, end->t->ends.first, end->table, shard, at);
}

void gfs_end_write(const gfs_end *end, uint8_t *const shard[GFS_END_ROWS], size_t at) {
  write_end(end, end->t->ends.last, end->table, shard, at);
}

/* The tables of the layers, then those of the products. */
static void fill_scaled(const gfs_end *end, const uint8_t *const scale[GFS_END_ROWS],
                        uint8_t *table) {
  const size_t entry = end->t->entry;
  memcpy(table, end->table, GROUP * entry);
  for (unsigned i = 0; i < GFS_END_ROWS; i++)
    memcpy(table + (GROUP + i) * entry, scale[i], entry);
}

void gfs_end_read_scaled(const gfs_end *end, const uint8_t *const shard[GFS_END_ROWS], size_t at,
                         const uint8_t *const scale[GFS_END_ROWS]) {
  uint8_t table[SCALED_TABLES * GFS_TRANSFORM_ENTRY_MAX];
  fill_scaled(end, scale, table);
  read_end(end, end->t->ends.scaled_first, table, shard, at);
}

void gfs_end_write_scaled(const gfs_end *end, uint8_t *const shard[GFS_END_ROWS], size_t at,
                          const uint8_t *const scale[GFS_END_ROWS]) {
  uint8_t table[SCALED_TABLES * GFS_TRANSFORM_ENTRY_MAX];
  fill_scaled(end, scale, table);
  write_end(end, end->t->ends.scaled_last, table, shard, at);
}

/* Both transforms process a half, a quarter or a 16th before the next one, so that smaller
 * transforms stay in the cache. */
static void interpolate(const part *p, unsigned at, unsigned size) {
  unsigned half = size / 2, quarter = size / 4, d = size / FOUR_ROWS;
  if (at >= p->to)
    return;
  if (half == 0) {
    p->values.visit(p->values.context, p->rows, at);
  } else if (quarter == 1 && visit_end(p, at)) {
    return;
  } else if (has_four_layers(p, at, size)) {
    for (unsigned i = 0; i < FOUR_ROWS; i++)
      interpolate(p, at + i * d, d);
    four_layers(p, true, at, d);
  } else if (has_two_layers(p, size) && at + half < p->to) {
    for (unsigned i = 0; i < 4; i++)
      interpolate(p, at + i * quarter, quarter);
    two_layers(p->t, true, p->rows, at, quarter, p->first + at);
  } else {
    interpolate(p, at, half);
    interpolate(p, at + half, half);
    layer(p->t, true, p->rows, at, half, p->first + at);
  }
}

/* Set the rows of blocks with values that are behind them to 0. */
static void clear_rest(const part *p, unsigned size) {
  const unsigned block = has_four_layers(p, 0, size) ? size / FOUR_ROWS : size;
  gfs_rows_clear(p->rows, p->to, p->to > 0 ? (p->to + block - 1) / block * block : size);
}

void gfs_transform_inverse(const gfs_transform *t, const gfs_rows *rows, unsigned size,
                           unsigned first, unsigned given, gfs_row_visit fill) {
  const part p = transform_part(t, rows, first, 0, given, fill);
  clear_rest(&p, size);
  interpolate(&p, 0, size);
}

static void evaluate(const part *p, unsigned at, unsigned size) {
  unsigned half = size / 2, quarter = size / 4, d = size / FOUR_ROWS;
  if (at >= p->to || at + size <= p->from)
    return;
  if (half == 0) {
    p->values.visit(p->values.context, p->rows, at);
  } else if (quarter == 1 && visit_end(p, at)) {
    return;
  } else if (has_four_layers(p, at, size)) {
    four_layers(p, false, at, d);
    for (unsigned i = 0; i < FOUR_ROWS; i++)
      evaluate(p, at + i * d, d);
  } else if (has_two_layers(p, size) && at + half < p->to && at + half > p->from) {
    two_layers(p->t, false, p->rows, at, quarter, p->first + at);
    for (unsigned i = 0; i < 4; i++)
      evaluate(p, at + i * quarter, quarter);
  } else {
    layer(p->t, false, p->rows, at, half, p->first + at);
    evaluate(p, at, half);
    evaluate(p, at + half, half);
  }
}

void gfs_transform_forward(const gfs_transform *t, const gfs_rows *rows, unsigned size,
                           unsigned first, unsigned from, unsigned to, gfs_row_visit take) {
  const part p = transform_part(t, rows, first, from, to, take);
  evaluate(&p, 0, size);
}

void gfs_transform_extend(const gfs_transform *t, const gfs_rows *rows, unsigned size,
                          unsigned given, gfs_row_visit fill, unsigned to, gfs_row_visit take) {
  const part in = transform_part(t, rows, size, 0, given, fill);
  const part out = transform_part(t, rows, 0, 0, to, take);
  const unsigned d = size / FOUR_ROWS;
  clear_rest(&in, size);
  if (t->fours.refft16 == NULL || !has_four_layers(&in, 0, size) ||
      !has_four_layers(&out, 0, size)) {
    interpolate(&in, 0, size);
    evaluate(&out, 0, size);
    return;
  }
  for (unsigned i = 0; i < FOUR_ROWS; i++)
    interpolate(&in, i * d, d);
  run_fours(rows, t->fours.refft16, t->fours.groups, filled_blocks(&in, 0, d), 0, d);
  for (unsigned i = 0; i < FOUR_ROWS; i++)
    evaluate(&out, i * d, d);
}

/* row += `count` rows. */
static void add_to_row(const gfs_transform *t, size_t bytes, uint8_t *row, size_t count,
                       const uint8_t *const *added) {
  if (t->mads != NULL) {
    t->mads(bytes, count, t->ones, added, &row);
    return;
  }
  for (size_t i = 0; i < count; i++)
    t->mad(bytes, 1, t->ones, added + i, &row);
}

/* Row i of the derivative is the sum of the rows i + 2^h for which i does not have bit h. So rows
 * have not been changed before they are added. */
static void derive(const gfs_transform *t, const gfs_rows *to, const gfs_rows *from, unsigned at,
                   unsigned size) {
  const uint8_t *added[GFS_ADDED_MOST];
  for (unsigned i = 0; i + 1 < size; i++) {
    size_t count = 0;
    for (unsigned bit = 1; bit < size; bit *= 2)
      if ((i & bit) == 0)
        added[count++] = gfs_rows_row(from, at + (i | bit));
    add_to_row(t, to->bytes, gfs_rows_row(to, at + i), count, added);
  }
}

static part values_part(const gfs_transform *t, const gfs_values *values) {
  return transform_part(t, values->rows, values->first, 0, values->given, values->fill);
}

/* Four layers and their part of the derivative, in 16 pieces of each polynomial, d rows apart, from
 * row `at` on: the caches keep the pieces.
 *
 * Let W be the last four layers of the inverse transform of the rows of `in`, and T the first four
 * layers of the forward one, at the same points: T W = 1. The derivative is D = D' + D'': D' adds
 * rows of other blocks of d rows, D'' those of the same block, which it does alike in each block.
 * So T D W = T D' W + D''. This computes T D' W of the rows of `in`, and adds T of the inverse of
 * four layers of the rows of `more`. */
static void derive_pieces(const part *in, const part *more, const part *out, unsigned at,
                          unsigned d, size_t bytes, uint8_t *spare) {
  const gfs_fours *fours = &in->t->fours;
  uint8_t *own[FOUR_ROWS], *derived[FOUR_ROWS], *sum[FOUR_ROWS];
  every_row(in->rows, at, d, own);
  every_row(more->rows, at, d, sum);
  for (size_t i = 0; i < FOUR_ROWS; i++)
    derived[i] = spare + i * (GFS_ROWS_MOST + GFS_ROWS_GAP);
  run_sixteen(fours->ifft16, fours_table(in, 0, d), bytes, filled_blocks(in, 0, d), own, derived);
  run_sixteen(fours->ifft16, fours_table(more, 0, d), bytes, filled_blocks(more, 0, d), sum, sum);
  for (unsigned i = 0; i + 1 < FOUR_ROWS; i++) {
    const uint8_t *added[GFS_ADDED_MOST];
    size_t count = 0;
    for (unsigned bit = 1; bit < FOUR_ROWS; bit *= 2)
      if ((i & bit) == 0)
        added[count++] = derived[i | bit];
    add_to_row(in->t, bytes, sum[i], count, added);
  }
  run_sixteen(fours->fft16, fours_table(out, 0, d), bytes, FOUR_ROWS, sum, sum);
}

/* gfs_transform_derived by pieces; D'' is added behind them. */
static void derive_by_fours(const part *in, const part *more, const part *out, unsigned size,
                            uint8_t *spare) {
  const unsigned d = size / FOUR_ROWS, together = piece_rows(in->rows, d, DERIVED_PIECE);
  for (unsigned at = 0; at < size; at += d) {
    interpolate(in, at, d);
    interpolate(more, at, d);
  }
  for (unsigned at = 0; at < d; at += together)
    derive_pieces(in, more, out, at, d, together_bytes(in->rows, together), spare);
  for (unsigned at = out->from / d * d; at < out->to; at += d) {
    if (at < in->to)
      derive(in->t, more->rows, in->rows, at, d);
    evaluate(out, at, d);
  }
}

/* Pieces have more accesses to each row than all layers, then the derivative of all rows. They pay
 * if a core's own cache does not keep the rows, or if many of these are 0: D'' omits their blocks.
 */
static bool has_pieces(const part *in, const part *more, const part *out, unsigned size) {
  return (in->rows->bytes * size > in->t->kept || in->to <= size / 2) &&
         has_four_layers(in, 0, size) && has_four_layers(more, 0, size) &&
         has_four_layers(out, 0, size);
}

void gfs_transform_derived(const gfs_transform *t, unsigned size, const gfs_values *own,
                           const gfs_values *other, uint8_t *spare, unsigned from, unsigned to,
                           gfs_row_visit take) {
  const part in = values_part(t, own), more = other != NULL ? values_part(t, other) : in;
  const part out = transform_part(t, more.rows, own->first, from, to, take);
  clear_rest(&in, size);
  if (other != NULL)
    clear_rest(&more, size);
  if (other != NULL && has_pieces(&in, &more, &out, size)) {
    derive_by_fours(&in, &more, &out, size, spare);
    return;
  }
  interpolate(&in, 0, size);
  if (other != NULL)
    interpolate(&more, 0, size);
  if (own->given > 0)
    derive(t, more.rows, in.rows, 0, size);
  evaluate(&out, 0, size);
}
