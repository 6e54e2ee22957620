/* field.h: GF(2^8) = GF(2)[x] / (p(x)) for any irreducible p of degree 8, byte by byte.
 *
 * For the elements of matrices only; kernels process the bytes of shards. */
#ifndef GFS_FIELD_H
#define GFS_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Discrete logarithms to the base of some generator g of the 255 non-zero elements. */
typedef struct gfs_field {
  uint8_t log[256]; /* g^log[a] = a; log[0] is not used */
  uint8_t exp[510]; /* exp[n] = g^n for two periods, so that a sum of two logarithms needs no mod */
  uint16_t polynomial;
} gfs_field;

/* Is the polynomial (bit n = coefficient of x^n) irreducible over GF(2) and of the required degree?
 */
bool gfs_field_irreducible(unsigned polynomial, unsigned required);

/* The same for degree 8. */
bool gfs_field_polynomial_valid(unsigned polynomial);

/* Set up the field of a valid polynomial. */
void gfs_field_init(gfs_field *field, unsigned polynomial);

uint8_t gfs_field_mul(const gfs_field *field, uint8_t a, uint8_t b);

/* 1 / a; a is not 0. */
uint8_t gfs_field_inverse(const gfs_field *field, uint8_t a);

/* row += factor * other, `width` elements. */
void gfs_field_add_multiple(const gfs_field *field, uint8_t *row, const uint8_t *other,
                            uint8_t factor, size_t width);

/* row = factor * row. */
void gfs_field_scale(const gfs_field *field, uint8_t *row, uint8_t factor, size_t width);

#endif
