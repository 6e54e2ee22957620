/* The sketch of gfsmith_checksum.h: docs/checksums.md has its mathematics.
 *
 * K = F[y] / (y^4 + t y^3 + y^2 + y + c) over the field F of the bytes, and L = K[z] / (z^2 + z +
 * y). An element of K is a number whose byte i is the coefficient of y^i, and an element of L two
 * of them. The sketch of a shard is the sum of d[o] y^-(o / SKETCH_LINE) z^(o % SKETCH_LINE) over
 * its bytes d[o]. */
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch.h"
#include "field.h"
#include "gfsmith_checksum.h"
#include "map.h"
#include "prefetch.h"
#include "sizes.h"

/* SKETCH_DEGREE: of K. A row has SKETCH_PARTS lines, so that kernels share the loads of a
 * coefficient between vectors. SKETCH_ROWS: rows of a shard that a call of the kernel adds to
 * SKETCH_DEGREE rows of sums. SKETCH_BLOCK: columns that are added before a reduction. SKETCH_FEW:
 * rows that the processor's own prefetches do not serve in time (docs/checksums.md). */
enum {
  SKETCH_DEGREE = 4,
  SKETCH_LINE = 64,
  SKETCH_PARTS = 2,
  SKETCH_ROW = SKETCH_PARTS * SKETCH_LINE,
  SKETCH_ROWS = 32,
  SKETCH_INPUTS = SKETCH_DEGREE + SKETCH_ROWS,
  SKETCH_DIGITS = 4,
  SKETCH_BLOCK = 8,
  SKETCH_FEW = 32 * SKETCH_ROWS
};

/* The order of the multiplicative group of K, 3 5 17 257 65537. */
#define SKETCH_UNITS 0xffffffffu

struct gfsmith_sketch {
  gfs_field field;
  gfs_map *rows;                        /* sums and SKETCH_ROWS rows to sums */
  uint32_t reduced[SKETCH_DEGREE][256]; /* a y^(SKETCH_DEGREE + n) for every byte a */
  uint32_t powers[SKETCH_DIGITS][256];  /* y^-(n 256^i) */
};

static uint32_t times_y(const gfsmith_sketch *s, uint32_t a) {
  return a << 8 ^ s->reduced[0][a >> 24];
}

/* The element of K whose coefficients of y^0 to y^7 are the bytes of a. */
static uint32_t reduce(const gfsmith_sketch *s, uint64_t a) {
  uint32_t sum = (uint32_t)a;
  for (unsigned n = 0; n < SKETCH_DEGREE; n++)
    sum ^= s->reduced[n][a >> (8 * (SKETCH_DEGREE + n)) & 255];
  return sum;
}

/* Bytes times a factor, inline: with calls of gfs_field_mul a product takes 2.6 times as long
 * (Zen 4). */
static uint32_t scaled_by(const gfsmith_sketch *s, uint8_t factor, uint32_t a) {
  if (factor == 0)
    return 0;
  const gfs_field *f = &s->field;
  const uint8_t *power = f->exp + f->log[factor];
  uint32_t product = 0;
  for (unsigned bits = 0; bits < 32; bits += 8) {
    uint8_t byte = (uint8_t)(a >> bits);
    product |= (byte != 0 ? (uint32_t)power[f->log[byte]] : 0) << bits;
  }
  return product;
}

static uint32_t product_of(const gfsmith_sketch *s, uint32_t a, uint32_t b) {
  uint64_t product = 0;
  for (unsigned i = 0; i < SKETCH_DEGREE; i++)
    product ^= (uint64_t)scaled_by(s, (uint8_t)(a >> 8 * i), b) << 8 * i;
  return reduce(s, product);
}

static uint32_t power_of_y(const gfsmith_sketch *s, uint32_t exponent) {
  uint32_t power = 1;
  for (unsigned bit = 32; bit-- > 0;) {
    power = product_of(s, power, power);
    if (exponent >> bit & 1)
      power = times_y(s, power);
  }
  return power;
}

/* The trace of an element of F over GF(2), 0 or 1. */
static uint8_t trace_of(const gfs_field *field, uint8_t a) {
  uint8_t sum = 0;
  for (unsigned n = 0; n < 8; n++) {
    sum ^= a;
    a = gfs_field_mul(field, a, a);
  }
  return sum;
}

/* Is the order of y SKETCH_UNITS? Then its polynomial is irreducible: the units of a product of
 * fields have smaller orders. */
static bool y_is_primitive(const gfsmith_sketch *s) {
  static const uint32_t primes[] = {3, 5, 17, 257, 65537};
  bool primitive = power_of_y(s, SKETCH_UNITS) == 1;
  for (size_t n = 0; primitive && n < sizeof primes / sizeof *primes; n++)
    primitive = power_of_y(s, SKETCH_UNITS / primes[n]) != 1;
  return primitive;
}

/* Take the least t of trace 1, so that z is not in K, and the least c such that y is primitive. */
static void choose_fields(gfsmith_sketch *s) {
  uint32_t t = 1, c = 0;
  while (trace_of(&s->field, (uint8_t)t) == 0)
    t++;
  do {
    c++;
    for (unsigned a = 0; a < 256; a++)
      s->reduced[0][a] = scaled_by(s, (uint8_t)a, t << 24 | 1 << 16 | 1 << 8 | c);
    for (unsigned n = 1; n < SKETCH_DEGREE; n++)
      for (unsigned a = 0; a < 256; a++)
        s->reduced[n][a] = times_y(s, s->reduced[n - 1][a]);
  } while (!y_is_primitive(s));
}

static void fill_weights(gfsmith_sketch *s) {
  uint32_t base = power_of_y(s, SKETCH_UNITS - 1);
  for (unsigned i = 0; i < SKETCH_DIGITS; i++) {
    s->powers[i][0] = 1;
    for (unsigned n = 1; n < 256; n++)
      s->powers[i][n] = product_of(s, s->powers[i][n - 1], base);
    base = product_of(s, s->powers[i][255], base);
  }
}

/* The map of Horner's rule for rows: each input by its power of y. */
static gfsmith_status create_map(gfsmith_sketch *s, const gfs_isa *isa) {
  uint8_t matrix[SKETCH_DEGREE * SKETCH_INPUTS];
  for (unsigned n = 0; n < SKETCH_INPUTS; n++) {
    bool is_row = n >= SKETCH_DEGREE;
    uint32_t after = is_row ? SKETCH_INPUTS - 1 - n : SKETCH_ROWS;
    uint32_t power = power_of_y(s, SKETCH_PARTS * after + (is_row ? 0 : n));
    for (unsigned i = 0; i < SKETCH_DEGREE; i++)
      matrix[i * SKETCH_INPUTS + n] = (uint8_t)(power >> 8 * i);
  }
  return gfs_map_create(&s->rows, isa, &s->field, SKETCH_INPUTS, SKETCH_DEGREE, matrix);
}

gfsmith_status gfsmith_sketch_create(gfsmith_sketch **out, unsigned polynomial) {
  if (out == NULL)
    return GFSMITH_EINVAL;
  *out = NULL;
  if (!gfs_field_polynomial_valid(polynomial))
    return GFSMITH_EINVAL;
  const gfs_isa *isa = gfs_dispatch_isa();
  if (isa == NULL)
    return GFSMITH_EUNSUPPORTED;
  gfsmith_sketch *s = malloc(sizeof *s);
  if (s == NULL)
    return GFSMITH_ENOMEM;
  gfs_field_init(&s->field, polynomial);
  choose_fields(s);
  fill_weights(s);
  gfsmith_status status = create_map(s, isa);
  if (status != GFSMITH_OK) {
    free(s);
    return status;
  }
  *out = s;
  return GFSMITH_OK;
}

void gfsmith_sketch_destroy(gfsmith_sketch *sketch) {
  if (sketch == NULL)
    return;
  gfs_map_destroy(sketch->rows);
  free(sketch);
}

/* Bytes of a shard as rows of the shard; the first and the last one, if they are incomplete, with
 * zeros. */
typedef struct row_run {
  const uint8_t *first, *last;
  const uint8_t *second; /* the second one and all that follow up to the last but one */
  size_t rows;
  uint8_t ends[2][SKETCH_ROW];
} row_run;

static void cut_into_rows(row_run *r, unsigned skip, size_t len, const uint8_t *data) {
  size_t head = gfs_least(len, SKETCH_ROW - skip), rest = len - head;
  size_t tail = rest % SKETCH_ROW;
  r->rows = 1 + rest / SKETCH_ROW + (tail > 0);
  r->first = data;
  r->second = data + head;
  r->last = rest >= SKETCH_ROW ? data + len - SKETCH_ROW : data;
  if (head < SKETCH_ROW) {
    memset(r->ends[0], 0, SKETCH_ROW);
    memcpy(r->ends[0] + skip, data, head);
    r->first = r->ends[0];
  }
  if (tail > 0) {
    memset(r->ends[1], 0, SKETCH_ROW);
    memcpy(r->ends[1], data + len - tail, tail);
    r->last = r->ends[1];
  }
}

/* Write the addresses of some rows. */
static void find_rows(const row_run *r, size_t first, size_t count, const uint8_t **rows) {
  size_t n = first == 0;
  const uint8_t *row = r->second + (first + n - 1) * SKETCH_ROW;
  rows[0] = r->first;
  for (; n < count; n++, row += SKETCH_ROW)
    rows[n] = row;
  if (first + count == r->rows && r->rows > 1)
    rows[count - 1] = r->last;
}

/* Prefetch the rows of a step from row `first` on, which is not 0. */
static void fetch_rows(const row_run *r, size_t first) {
  if (r->rows > SKETCH_FEW || first >= r->rows)
    return;
  size_t whole = gfs_least(r->rows - 1 - first, SKETCH_ROWS);
  gfs_prefetch_second(r->second + (first - 1) * SKETCH_ROW, whole * SKETCH_ROW);
}

/* Write sum over n of y^(SKETCH_PARTS (rows - 1 - n)) row[n] to SKETCH_DEGREE rows, one for each
 * coefficient. Rows of zeros before the first one make whole steps. */
static void add_run(const gfsmith_sketch *s, const row_run *r, uint8_t (*sums)[SKETCH_ROW]) {
  static const uint8_t zeros[SKETCH_ROW];
  alignas(GFS_CACHE_LINE) uint8_t other[SKETCH_DEGREE][SKETCH_ROW];
  size_t count = (r->rows - 1) % SKETCH_ROWS + 1;
  bool is_even = (r->rows - 1) / SKETCH_ROWS % 2 > 0; /* the number of steps */
  uint8_t(*before)[SKETCH_ROW] = is_even ? sums : other,
  (*after)[SKETCH_ROW] = is_even ? other : sums;
  const uint8_t *src[SKETCH_INPUTS];
  memset(before, 0, sizeof other);
  for (size_t n = count; n < SKETCH_ROWS; n++)
    src[SKETCH_DEGREE + n - count] = zeros;
  fetch_rows(r, 1);
  for (size_t done = 0; done < r->rows; done += count, count = SKETCH_ROWS) {
    uint8_t *dst[SKETCH_DEGREE];
    for (unsigned i = 0; i < SKETCH_DEGREE; i++) {
      src[i] = before[i];
      dst[i] = after[i];
    }
    find_rows(r, done, count, src + SKETCH_INPUTS - count);
    fetch_rows(r, done + count);
    gfs_map_apply(s->rows, GFSMITH_HINT_CACHED, SKETCH_ROW, src, dst);
    uint8_t(*next)[SKETCH_ROW] = before;
    before = after;
    after = next;
  }
}

/* Byte i of a column is the coefficient of y^i: that of row i. */
static void find_columns(uint8_t (*restrict sums)[SKETCH_ROW], uint32_t *restrict columns) {
  for (unsigned at = 0; at < SKETCH_ROW; at++)
    columns[at] = (uint32_t)sums[0][at] | (uint32_t)sums[1][at] << 8 | (uint32_t)sums[2][at] << 16 |
                  (uint32_t)sums[3][at] << 24;
}

/* The sum over b of z^b times column b of the last line, where a line is y times the one before it
 * plus its own bytes. By Horner's rule with z^2 = z + y: a column has at most the power y^4, and
 * every second step adds a power, so a block ends with y^7 at most. */
static void add_columns(const gfsmith_sketch *s, uint8_t (*sums)[SKETCH_ROW], uint32_t value[2]) {
  uint32_t columns[SKETCH_ROW];
  find_columns(sums, columns);
  value[0] = value[1] = 0;
  for (unsigned end = SKETCH_LINE; end > 0; end -= SKETCH_BLOCK) {
    uint64_t one = value[0], z = value[1];
    for (unsigned b = end; b-- > end - SKETCH_BLOCK;) {
      uint64_t constant = z << 8 ^ (uint64_t)columns[b] << 8 ^ columns[b + SKETCH_LINE];
      z ^= one;
      one = constant;
    }
    value[0] = reduce(s, one);
    value[1] = reduce(s, z);
  }
}

/* y^-line. */
static uint32_t line_weight(const gfsmith_sketch *s, uint64_t line) {
  uint32_t exponent = (uint32_t)(line % SKETCH_UNITS), weight = s->powers[0][exponent & 255];
  for (unsigned i = 1; i < SKETCH_DIGITS; i++) {
    unsigned digit = exponent >> 8 * i & 255;
    if (digit != 0)
      weight = product_of(s, s->powers[i][digit], weight);
  }
  return weight;
}

gfsmith_status gfsmith_sketch_add(const gfsmith_sketch *sketch, uint8_t *sum, uint64_t offset,
                                  size_t len, const uint8_t *data) {
  if (sketch == NULL || len > UINT64_MAX - offset)
    return GFSMITH_EINVAL;
  if (len == 0)
    return GFSMITH_OK;
  if (sum == NULL || data == NULL)
    return GFSMITH_EINVAL;
  row_run r;
  alignas(GFS_CACHE_LINE) uint8_t sums[SKETCH_DEGREE][SKETCH_ROW];
  uint32_t value[2];
  cut_into_rows(&r, (unsigned)(offset % SKETCH_ROW), len, data);
  add_run(sketch, &r, sums);
  add_columns(sketch, sums, value);
  uint64_t end = offset / SKETCH_ROW + r.rows; /* the row behind the last one */
  uint32_t weight = line_weight(sketch, end * SKETCH_PARTS - 1);
  for (unsigned n = 0; n < 2; n++) {
    uint32_t half = product_of(sketch, weight, value[n]);
    for (unsigned i = 0; i < SKETCH_DEGREE; i++)
      sum[n * SKETCH_DEGREE + i] ^= (uint8_t)(half >> 8 * i);
  }
  return GFSMITH_OK;
}
