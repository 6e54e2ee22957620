#include "field.h"

enum { DEGREE = 8, ORDER = 255 /* of the multiplicative group */ };

static unsigned degree(unsigned polynomial) {
  unsigned n = 0;
  while (polynomial >>= 1)
    n++;
  return n;
}

/* a mod b over GF(2); b is not 0. */
static unsigned remainder_of(unsigned a, unsigned b) {
  while (a != 0 && degree(a) >= degree(b))
    a ^= b << (degree(a) - degree(b));
  return a;
}

bool gfs_field_irreducible(unsigned polynomial, unsigned required) {
  if (degree(polynomial) != required)
    return false;
  /* A reducible polynomial has a factor of at most half its degree. */
  for (unsigned factor = 2; degree(factor) <= required / 2; factor++)
    if (remainder_of(polynomial, factor) == 0)
      return false;
  return true;
}

bool gfs_field_polynomial_valid(unsigned polynomial) {
  return gfs_field_irreducible(polynomial, DEGREE);
}

static unsigned shift_multiply(unsigned polynomial, unsigned a, unsigned b) {
  unsigned product = 0;
  for (unsigned bit = 0; bit < DEGREE; bit++)
    if (b >> bit & 1)
      product ^= a << bit;
  return remainder_of(product, polynomial);
}

/* Fill exp with the powers of base. Is base a generator, that is, of order 255? */
static bool fill_powers(uint8_t *exp, unsigned polynomial, unsigned base) {
  unsigned power = 1;
  for (unsigned n = 0; n < ORDER; n++) {
    if (n > 0 && power == 1)
      return false;
    exp[n] = exp[n + ORDER] = (uint8_t)power;
    power = shift_multiply(polynomial, power, base);
  }
  return true;
}

void gfs_field_init(gfs_field *field, unsigned polynomial) {
  /* x (2) is a generator only if the polynomial is primitive; some element always is. */
  unsigned base = 2;
  while (!fill_powers(field->exp, polynomial, base))
    base++;
  field->polynomial = (uint16_t)polynomial;
  field->log[0] = 0;
  for (unsigned n = 0; n < ORDER; n++)
    field->log[field->exp[n]] = (uint8_t)n;
}

uint8_t gfs_field_mul(const gfs_field *field, uint8_t a, uint8_t b) {
  if (a == 0 || b == 0)
    return 0;
  return field->exp[field->log[a] + field->log[b]];
}

uint8_t gfs_field_inverse(const gfs_field *field, uint8_t a) {
  return field->exp[ORDER - field->log[a]];
}

void gfs_field_add_multiple(const gfs_field *field, uint8_t *row, const uint8_t *other,
                            uint8_t factor, size_t width) {
  if (factor == 0)
    return;
  const uint8_t *multiple = field->exp + field->log[factor]; /* multiplication by log[factor] */
  for (size_t column = 0; column < width; column++)
    if (other[column] != 0)
      row[column] ^= multiple[field->log[other[column]]];
}

void gfs_field_scale(const gfs_field *field, uint8_t *row, uint8_t factor, size_t width) {
  for (size_t column = 0; column < width; column++)
    row[column] = gfs_field_mul(field, factor, row[column]);
}
