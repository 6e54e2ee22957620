#include "search.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct search {
  const gfs_field *field;
  unsigned width;
  unsigned targets;
  uint8_t *best;    /* rows of the targets */
  unsigned reads;   /* shards read by the best */
  unsigned nonzero; /* non-zero coefficients of the best; initially one more, so that an equal
                       solution replaces it */
  size_t products;  /* products computed so far */
  bool exhausted;
} search;

static bool column_used(const search *s, const uint8_t *rows, unsigned column) {
  for (unsigned t = 0; t < s->targets; t++)
    if (rows[(size_t)t * s->width + column] != 0)
      return true;
  return false;
}

static void measure(const search *s, const uint8_t *rows, unsigned *reads, unsigned *nonzero) {
  *reads = *nonzero = 0;
  for (unsigned column = 0; column < s->width; column++)
    *reads += column_used(s, rows, column);
  for (size_t n = 0; n < (size_t)s->targets * s->width; n++)
    *nonzero += rows[n] != 0;
}

static void consider(search *s, const uint8_t *rows) {
  unsigned reads, nonzero;
  measure(s, rows, &reads, &nonzero);
  if (reads > s->reads || (reads == s->reads && nonzero >= s->nonzero))
    return;
  s->reads = reads;
  s->nonzero = nonzero;
  memcpy(s->best, rows, (size_t)s->targets * s->width);
}

/* Write all rows but the pivot to `next`, reduced to 0 in this column. */
static void clear_column(const search *s, const uint8_t *rows, unsigned count, unsigned pivot,
                         unsigned column, uint8_t *next) {
  const uint8_t *by = rows + (size_t)pivot * s->width;
  uint8_t inverse = gfs_field_inverse(s->field, by[column]);
  for (unsigned n = 0; n < count; n++) {
    if (n == pivot)
      continue;
    memcpy(next, rows + (size_t)n * s->width, s->width);
    uint8_t factor = gfs_field_mul(s->field, next[column], inverse);
    gfs_field_add_multiple(s->field, next, by, factor, s->width);
    next += s->width;
  }
}

/* May the search clear this number of further rows? */
static bool afford(search *s, unsigned rows) {
  size_t products = (size_t)rows * s->width;
  s->exhausted = s->exhausted || products > GFS_SEARCH_PRODUCTS - s->products;
  if (!s->exhausted)
    s->products += products;
  return !s->exhausted;
}

/* Search the subtree. rows: `spares` equations and the targets' rows; columns `column` and above
 * are decided, `reads` of which are read. The memory after the rows is used by deeper levels. */
static void descend(search *s, uint8_t *rows, unsigned spares, unsigned column, unsigned reads) {
  if (spares == 0) {
    consider(s, rows);
    return;
  }
  unsigned count = spares + s->targets;
  while (column-- > 0) {
    unsigned pivot = 0;
    while (pivot < spares && rows[(size_t)pivot * s->width + column] == 0)
      pivot++;
    if (pivot < spares) {
      if (!afford(s, count - 1))
        return;
      uint8_t *next = rows + (size_t)count * s->width;
      clear_column(s, rows, count, pivot, column, next);
      descend(s, next, spares - 1, column, reads);
    }
    if (pivot < spares || column_used(s, rows + (size_t)spares * s->width, column))
      reads++;
    if (reads > s->reads || s->exhausted)
      return;
  }
}

/* The bytes of the rows of all levels, one for each product of one descent. */
static size_t levels(unsigned width, unsigned spares, unsigned targets) {
  size_t rows = 0;
  for (unsigned left = 0; left <= spares; left++)
    rows += left + targets;
  return rows * width;
}

bool gfs_search_possible(unsigned width, unsigned spares, unsigned targets) {
  return levels(width, spares, targets) <= GFS_SEARCH_PRODUCTS;
}

gfsmith_status gfs_search(const gfs_field *field, unsigned width, unsigned spares,
                          const uint8_t *spare, unsigned targets, uint8_t *rows, bool *least) {
  uint8_t *state = malloc(levels(width, spares, targets));
  if (state == NULL)
    return GFSMITH_ENOMEM;
  memcpy(state, spare, (size_t)spares * width);
  memcpy(state + (size_t)spares * width, rows, (size_t)targets * width);
  search s = {.field = field, .width = width, .targets = targets, .best = rows};
  measure(&s, rows, &s.reads, &s.nonzero);
  s.nonzero++;
  descend(&s, state, spares, width, 0);
  free(state);
  *least = !s.exhausted;
  return GFSMITH_OK;
}

/* The bits of a byte in reverse order, which separates neighbours. */
static unsigned reversed(unsigned n) {
  unsigned bits = 0;
  for (unsigned bit = 0; bit < 8; bit++)
    bits |= (n >> bit & 1) << (7 - bit);
  return bits;
}

/* Transform the rows so that `count` unused columns form the identity, and mark these columns as
 * used. The columns are taken from the whole width, so that the groups of a local code last equally
 * long. False if there are no such columns. */
static bool make_systematic(const gfs_field *field, unsigned width, unsigned count, uint8_t *rows,
                            bool *used) {
  unsigned rank = 0;
  for (unsigned n = 0; n < 256 && rank < count; n++) {
    unsigned column = reversed(n), pivot = rank;
    if (column >= width || used[column])
      continue;
    while (pivot < count && rows[(size_t)pivot * width + column] == 0)
      pivot++;
    if (pivot == count)
      continue;
    uint8_t *by = rows + (size_t)rank * width, *other = rows + (size_t)pivot * width;
    for (unsigned at = 0; pivot != rank && at < width; at++) {
      uint8_t kept = by[at];
      by[at] = other[at];
      other[at] = kept;
    }
    gfs_field_scale(field, by, gfs_field_inverse(field, by[column]), width);
    for (unsigned r = 0; r < count; r++)
      if (r != rank)
        gfs_field_add_multiple(field, rows + (size_t)r * width, by,
                               rows[(size_t)r * width + column], width);
    used[column] = true;
    rank++;
  }
  return rank == count;
}

static unsigned weight_of(const uint8_t *row, unsigned width) {
  unsigned weight = 0;
  for (unsigned column = 0; column < width; column++)
    weight += row[column] != 0;
  return weight;
}

gfsmith_status gfs_search_bound(const gfs_field *field, unsigned width, unsigned spares,
                                const uint8_t *spare, unsigned target, const uint8_t *row,
                                bool *least) {
  bool used[GFSMITH_MAX_SHARDS] = {false};
  unsigned count = spares + 1, reads = weight_of(row, width), sets = reads / 2 + 1;
  *least = false;
  if ((size_t)sets * count * count * width > 2 * GFS_SEARCH_PRODUCTS)
    return GFSMITH_OK;
  uint8_t *rows = malloc((size_t)count * width);
  if (rows == NULL)
    return GFSMITH_ENOMEM;
  memcpy(rows, spare, (size_t)spares * width);
  memcpy(rows + (size_t)spares * width, row, width);
  rows[(size_t)spares * width + target] = 1;
  bool possible = true;
  for (unsigned n = 0; possible && n < sets; n++) {
    possible = make_systematic(field, width, count, rows, used);
    for (unsigned r = 0; r < count; r++) {
      const uint8_t *found = rows + (size_t)r * width;
      possible = possible && (found[target] == 0 || weight_of(found, width) > reads);
    }
  }
  free(rows);
  *least = possible;
  return GFSMITH_OK;
}
