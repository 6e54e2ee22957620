#include "grs.h"

#include <string.h>

/* A point of the projective line, first + second not both 0; a is the point second / first. */
typedef struct pair {
  uint8_t first, second;
} pair;

enum { LINE = 257 /* points of the projective line over GF(2^8) */ };

static uint8_t mul(const gfs_grs *grs, uint8_t a, uint8_t b) {
  return gfs_field_mul(grs->field, a, b);
}

static uint8_t inverse(const gfs_grs *grs, uint8_t a) { return gfs_field_inverse(grs->field, a); }

/* The determinant of two pairs, 0 if they are the same point. */
static uint8_t determinant(const gfs_grs *grs, pair a, pair b) {
  return mul(grs, a.first, b.second) ^ mul(grs, a.second, b.first);
}

/* The point with number n: n < 256, or infinity. */
static pair numbered(unsigned n) { return n < LINE - 1 ? (pair){1, (uint8_t)n} : (pair){0, 1}; }

static unsigned number_of(const gfs_grs *grs, pair a) {
  return a.first != 0 ? mul(grs, a.second, inverse(grs, a.first)) : LINE - 1u;
}

/* With one data shard, points of a free choice. */
static void spread(const gfs_grs *grs, const uint8_t *matrix, pair *pairs) {
  pairs[0] = (pair){0, 1};
  for (unsigned i = 0; i < grs->m; i++) {
    uint8_t first = inverse(grs, matrix[i]);
    pairs[1 + i] = (pair){first, mul(grs, first, (uint8_t)i)};
  }
}

/* Find a pair for every shard such that 1 / matrix[i][j] is the determinant of pairs[k + i] and
 * pairs[j]. Those of the data follow from two rows, those of the parities from two columns; all
 * other elements are compared. False if they differ. */
static bool factorise(const gfs_grs *grs, const uint8_t *matrix, pair *pairs) {
  size_t k = grs->k;
  if (k == 1) {
    spread(grs, matrix, pairs);
    return true;
  }
  for (size_t j = 0; j < k; j++) /* row 0 has the pair (0, 1) and row 1 (1, 0) */
    pairs[j] = (pair){inverse(grs, matrix[j]), inverse(grs, matrix[k + j])};
  uint8_t scale = determinant(grs, pairs[0], pairs[1]);
  if (scale == 0)
    return false;
  scale = inverse(grs, scale);
  for (size_t i = 0; i < grs->m; i++) {
    const uint8_t *row = matrix + i * k;
    uint8_t left = mul(grs, scale, inverse(grs, row[0]));
    uint8_t right = mul(grs, scale, inverse(grs, row[1]));
    pair *own = &pairs[k + i];
    own->first = mul(grs, left, pairs[1].first) ^ mul(grs, right, pairs[0].first);
    own->second = mul(grs, left, pairs[1].second) ^ mul(grs, right, pairs[0].second);
    for (size_t j = 0; j < k; j++)
      if (mul(grs, row[j], determinant(grs, *own, pairs[j])) != 1)
        return false;
  }
  return true;
}

/* Choose two points that no shard has, to become 0 and infinity. False if two shards have the same
 * point. There are two, since there are 257 points and at most 255 shards. */
static bool choose_points(const gfs_grs *grs, const pair *pairs, pair *zero, pair *infinity) {
  bool used[LINE] = {false};
  for (unsigned n = 0; n < grs->k + grs->m; n++) {
    bool *own = &used[number_of(grs, pairs[n])];
    if (*own)
      return false;
    *own = true;
  }
  unsigned n = 0;
  while (used[n])
    n++;
  *zero = numbered(n++);
  while (used[n])
    n++;
  *infinity = numbered(n);
  return true;
}

/* Write the factors: with R the determinant of a shard's pair and the pair of infinity,
 * matrix[i][j] is a constant times 1 / (R_i * R_j * (z_i + z_j)). The equation of power l is the
 * sum over i of z_i^l * R_i / Y'(z_i) times equation i, Y(z) the product of z + z_i over the
 * parities, which by partial fractions has at data shard j the coefficient  constant * z_j^l / (R_j
 * * Y(z_j)). */
static void write_factors(gfs_grs *grs, const uint8_t *r, uint8_t constant) {
  for (unsigned n = 0; n < grs->k + grs->m; n++) {
    uint8_t product = 1;
    for (unsigned i = grs->k; i < grs->k + grs->m; i++)
      if (i != n)
        product = mul(grs, product, grs->point[n] ^ grs->point[i]);
    grs->factor[n] = n < grs->k ? mul(grs, constant, inverse(grs, mul(grs, r[n], product)))
                                : mul(grs, r[n], inverse(grs, product));
  }
}

bool gfs_grs_find(gfs_grs *grs, const gfs_equations *equations) {
  pair pairs[GFSMITH_MAX_SHARDS], zero, infinity;
  uint8_t r[GFSMITH_MAX_SHARDS];
  *grs = (gfs_grs){.field = equations->field, .k = equations->k, .m = equations->m};
  for (size_t n = 0; n < (size_t)grs->k * grs->m; n++)
    if (equations->matrix[n] == 0)
      return false;
  if (!factorise(grs, equations->matrix, pairs) || !choose_points(grs, pairs, &zero, &infinity))
    return false;
  for (unsigned n = 0; n < grs->k + grs->m; n++) {
    r[n] = determinant(grs, pairs[n], infinity);
    grs->point[n] = mul(grs, determinant(grs, pairs[n], zero), inverse(grs, r[n]));
  }
  write_factors(grs, r, determinant(grs, zero, infinity));
  return true;
}

/* The value at x of the polynomial with these coefficients, from `first` on and `step` apart. */
static uint8_t value_at(const gfs_grs *grs, const uint8_t *polynomial, unsigned first,
                        unsigned count, unsigned step, uint8_t x) {
  uint8_t total = 0, square = step == 2 ? mul(grs, x, x) : x;
  for (unsigned n = first + (count - first + step - 1) / step * step; n > first; n -= step)
    total = mul(grs, total, square) ^ polynomial[n - step];
  return total;
}

/* The power sums: S[l] = sum over wrong shards n of factor_n * error_n * z_n^l, l < m. */
static void power_sums(const gfs_grs *grs, const uint8_t *s, size_t pitch, uint8_t *sums) {
  memset(sums, 0, grs->m);
  for (unsigned i = 0; i < grs->m; i++) {
    uint8_t term = mul(grs, grs->factor[grs->k + i], s[i * pitch]);
    for (unsigned l = 0; l < grs->m && term != 0; l++) {
      sums[l] ^= term;
      term = mul(grs, term, grs->point[grs->k + i]);
    }
  }
}

/* Berlekamp and Massey: the shortest recurrence  sum over i <= length of locator[i] * S[l - i] = 0
 * of the power sums, locator[0] = 1. Return its length (J. L. Massey, IEEE Trans. IT 15, 1969). */
static unsigned recurrence(const gfs_grs *grs, const uint8_t *sums, uint8_t *locator) {
  uint8_t previous[GFSMITH_MAX_SHARDS + 1] = {1}, kept[GFSMITH_MAX_SHARDS + 1];
  uint8_t divisor = 1;
  unsigned length = 0, shift = 1, size = grs->m + 1;
  memset(locator, 0, size);
  locator[0] = 1;
  for (unsigned l = 0; l < grs->m; l++, shift++) {
    uint8_t difference = sums[l];
    for (unsigned i = 1; i <= length; i++)
      difference ^= mul(grs, locator[i], sums[l - i]);
    if (difference == 0)
      continue;
    memcpy(kept, locator, size);
    uint8_t factor = mul(grs, difference, inverse(grs, divisor));
    gfs_field_add_multiple(grs->field, locator + shift, previous, factor, size - shift);
    if (2 * length > l)
      continue;
    length = l + 1 - length;
    memcpy(previous, kept, size);
    divisor = difference;
    shift = 0;
  }
  return length;
}

/* Forney: if the locator is the product of 1 + z_n x over the wrong shards, the numerator is its
 * product with the power sums modulo x^m, and has a degree below `count`, then at x = 1 / z_n
 *     factor_n * error_n = z_n * numerator(x) / locator'(x)
 * (G. D. Forney, IEEE Trans. IT 11, 1965). The derivative has the odd coefficients. */
static uint8_t error_of(const gfs_grs *grs, const uint8_t *locator, const uint8_t *numerator,
                        unsigned count, unsigned shard, uint8_t x) {
  uint8_t slope = value_at(grs, locator, 1, count + 1, 2, x);
  uint8_t divisor = mul(grs, mul(grs, slope, x), grs->factor[shard]);
  return mul(grs, value_at(grs, numerator, 0, count, 1, x), inverse(grs, divisor));
}

unsigned gfs_grs_decode(const gfs_grs *grs, const uint8_t *s, size_t pitch, gfs_error *errors) {
  uint8_t sums[GFSMITH_MAX_SHARDS], locator[GFSMITH_MAX_SHARDS + 1];
  uint8_t numerator[GFSMITH_MAX_SHARDS] = {0};
  power_sums(grs, s, pitch, sums);
  unsigned count = recurrence(grs, sums, locator), found = 0;
  if (count > grs->m / 2)
    return 0;
  for (unsigned n = 0; n < count; n++)
    for (unsigned i = 0; i <= n; i++)
      numerator[n] ^= mul(grs, locator[i], sums[n - i]);
  for (unsigned shard = 0; shard < grs->k + grs->m && found < count; shard++) {
    uint8_t x = inverse(grs, grs->point[shard]);
    if (value_at(grs, locator, 0, count + 1, 1, x) == 0)
      errors[found++] =
          (gfs_error){(uint8_t)shard, error_of(grs, locator, numerator, count, shard, x)};
  }
  /* Fewer roots than the length: m / 2 shards or fewer do not explain the syndrome. */
  return found == count ? count : 0;
}
