#include "word.h"

#include <stddef.h>

uint32_t gfs_jerasure_mask(unsigned width) { return UINT32_MAX >> (GFS_JERASURE_WIDEST - width); }

/* a b, by Horner's rule over the bits of b, from the highest on; no branch depends on data. */
uint32_t gfs_jerasure_multiply(gf_t *field, uint32_t a, uint32_t b) {
  const gfs_jerasure_modulus *modulus = field->scratch;
  uint32_t mask = gfs_jerasure_mask(modulus->width), product = 0;
  a &= mask;
  for (unsigned bit = modulus->width; bit-- > 0;) {
    uint32_t carry = product >> (modulus->width - 1) & 1;
    product = (product << 1 & mask) ^ (modulus->low & -carry) ^ (a & -(b >> bit & 1));
  }
  return product;
}

/* a^(2^w - 2), the product of the squares a^2, a^4, ... */
uint32_t gfs_jerasure_inverse(gf_t *field, uint32_t a) {
  const gfs_jerasure_modulus *modulus = field->scratch;
  uint32_t square = a & gfs_jerasure_mask(modulus->width), product = 1;
  for (unsigned n = 1; n < modulus->width; n++) {
    square = gfs_jerasure_multiply(field, square, square);
    product = gfs_jerasure_multiply(field, product, square);
  }
  return modulus->width == 1 ? square : product;
}

uint32_t gfs_jerasure_divide(gf_t *field, uint32_t a, uint32_t b) {
  return gfs_jerasure_multiply(field, a, gfs_jerasure_inverse(field, b));
}

/* Word number `index` of a region, as gf-complete numbers them: two words of 4 bits in a byte, the
 * lower one first. */
uint32_t gfs_jerasure_extract_word(gf_t *field, void *start, int bytes, int index) {
  const gfs_jerasure_modulus *modulus = field->scratch;
  const uint8_t *from = start;
  (void)bytes;
  if (modulus->width == 4)
    return from[index / 2] >> (index % 2 * 4) & 15;
  uint32_t word = 0;
  for (unsigned n = 0; n < modulus->width / 8; n++)
    word |= (uint32_t)from[(size_t)index * (modulus->width / 8) + n] << (8 * n);
  return word;
}

const gfs_jerasure_modulus *gfs_jerasure_modulus_of(const gf_t *field) {
  return field->multiply == gfs_jerasure_multiply ? field->scratch : NULL;
}
