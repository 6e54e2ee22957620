#include "search.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct search {
  const gfs_field *field;
  unsigned width;
  unsigned targets;
  uint8_t *best;  /* rows of the targets */
  unsigned reads; /* of the best */
  unsigned
      nonzero; /* coefficients of it; at first one more than it has, so that equals replace it */
  size_t products; /* taken so far */
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

/* Write to `next` all rows but the pivot, 0 in this column. */
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

/* May another so many rows be cleared? */
static bool afford(search *s, unsigned rows) {
  size_t products = (size_t)rows * s->width;
  s->exhausted = s->exhausted || products > GFS_SEARCH_PRODUCTS - s->products;
  if (!s->exhausted)
    s->products += products;
  return !s->exhausted;
}

/* rows: `spares` equations and the targets' rows, with columns `column` and above decided, `reads`
 * of which are read; the memory behind is for the levels below. */
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

/* The rows of all levels: as many products as one way down takes, and a byte each. */
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
