/* algebra.h: the routines behind gfsmith_algebra.h, generated for each instruction set that has its
 * own. */
#ifndef GFS_ALGEBRA_H
#define GFS_ALGEBRA_H

#include <stddef.h>
#include <stdint.h>

#include "dispatch.h"

enum { GFS_ALGEBRA_MODULUS = 64 };

/* What routines know of the field and, for polynomials, of the modulus. */
typedef struct gfs_algebra_field {
  uint64_t forth, back;                 /* to GF(2)[x]/0x11b and from there: isomorphisms.inc */
  uint8_t low;                          /* the polynomial without x^8 */
  uint8_t modulus[GFS_ALGEBRA_MODULUS]; /* its coefficients, again and again */
} gfs_algebra_field;

/* out = the operation on a and b (which inversion does not look at): so many bytes of each, a whole
 * number of what the operation takes. out may be a or b. */
typedef void gfs_algebra_routine(size_t bytes, const uint8_t *a, const uint8_t *b, uint8_t *out,
                                 const gfs_algebra_field *field);

/* The routines of one instruction set. Those of pairs: for the field of 0x11b, and for any. */
typedef struct gfs_algebra {
  gfs_algebra_routine *multiply[2];
  gfs_algebra_routine *invert[2];
  gfs_algebra_routine *polynomials[3][2]; /* of degree below 8, 16, 32 */
  gfs_algebra_routine *matrices8;
  gfs_algebra_routine *matrices64;
} gfs_algebra;

/* What an instruction set uses; NULL is no set at all. */
const gfs_algebra *gfs_algebra_of(const gfs_isa *isa);

#endif
