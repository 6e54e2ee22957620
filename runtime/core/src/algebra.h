/* algebra.h: the routines of gfsmith_algebra.h, generated for each instruction set that has its
 * own. */
#ifndef GFS_ALGEBRA_H
#define GFS_ALGEBRA_H

#include <stddef.h>
#include <stdint.h>

#include "dispatch.h"

enum { GFS_ALGEBRA_MODULUS = 64 };

/* The parameters of routines: the field and, for polynomials, the modulus. */
typedef struct gfs_algebra_field {
  uint64_t forth, back; /* isomorphisms to and from GF(2)[x]/0x11b: isomorphisms.inc */
  uint8_t low;          /* the polynomial without x^8 */
  uint8_t modulus[GFS_ALGEBRA_MODULUS]; /* its coefficients, repeated */
} gfs_algebra_field;

/* out = the operation on a and b (inversion ignores b), on `bytes` bytes of each, a multiple of the
 * operation's element size. out may be a or b. */
typedef void gfs_algebra_routine(size_t bytes, const uint8_t *a, const uint8_t *b, uint8_t *out,
                                 const gfs_algebra_field *field);

/* The routines of one instruction set. Each pair is one for the field of 0x11b and one for any
 * field. */
typedef struct gfs_algebra {
  gfs_algebra_routine *multiply[2];
  gfs_algebra_routine *invert[2];
  gfs_algebra_routine *polynomials[3][2]; /* of degree less than 8, 16, 32 */
  gfs_algebra_routine *matrices8;
  gfs_algebra_routine *matrices64;
} gfs_algebra;

/* The routines of an instruction set; NULL: no instruction set. */
const gfs_algebra *gfs_algebra_of(const gfs_isa *isa);

#endif
