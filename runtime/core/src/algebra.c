/* The functions of gfsmith_algebra.h: checks of arguments, the field, and the choice of routines by
 * the current instruction set. */
#include "algebra.h"

#include <string.h>

#include "gfsmith_algebra.h"

enum { MATRIX8 = 8, ROWS = 64, MATRIX64 = ROWS * sizeof(uint64_t) };

/* The field of x86's instructions for products and inverses. */
static const unsigned instructions_field = 0x11b;

typedef struct isomorphism {
  unsigned polynomial;
  uint64_t forth, back;
} isomorphism;

/* The isomorphisms of every irreducible polynomial of degree 8. */
static const isomorphism isomorphisms[] = {
#define GFSMITH_ISOMORPHISM(polynomial, forth, back) {polynomial, forth, back},
#include "isomorphisms.inc"
#undef GFSMITH_ISOMORPHISM
};

/* False if there is no such field. The modulus is not set. */
static bool field_find(gfs_algebra_field *field, unsigned polynomial) {
  for (size_t n = 0; n < sizeof isomorphisms / sizeof isomorphisms[0]; n++)
    if (isomorphisms[n].polynomial == polynomial) {
      field->forth = isomorphisms[n].forth;
      field->back = isomorphisms[n].back;
      field->low = (uint8_t)polynomial;
      return true;
    }
  return false;
}

static const gfs_algebra *routines(void) { return gfs_algebra_of(gfs_dispatch_isa()); }

gfsmith_status gfsmith_multiply(unsigned polynomial, size_t len, const uint8_t *a, const uint8_t *b,
                                uint8_t *out) {
  gfs_algebra_field field;
  bool missing = a == NULL || b == NULL || out == NULL;
  if (!field_find(&field, polynomial) || (len > 0 && missing))
    return GFSMITH_EINVAL;
  routines()->multiply[polynomial != instructions_field](len, a, b, out, &field);
  return GFSMITH_OK;
}

gfsmith_status gfsmith_invert(unsigned polynomial, size_t len, const uint8_t *in, uint8_t *out) {
  gfs_algebra_field field;
  if (!field_find(&field, polynomial) || (len > 0 && (in == NULL || out == NULL)))
    return GFSMITH_EINVAL;
  routines()->invert[polynomial != instructions_field](len, in, NULL, out, &field);
  return GFSMITH_OK;
}

gfsmith_status gfsmith_multiply_polynomials(unsigned polynomial, unsigned degree, size_t n,
                                            const uint8_t *a, const uint8_t *b,
                                            const uint8_t *modulus, uint8_t *out) {
  gfs_algebra_field field;
  if (!field_find(&field, polynomial) || (degree != 8 && degree != 16 && degree != 32))
    return GFSMITH_EINVAL;
  bool missing = a == NULL || b == NULL || modulus == NULL || out == NULL;
  if (n > SIZE_MAX / degree || (n > 0 && missing))
    return GFSMITH_EINVAL;
  if (n == 0)
    return GFSMITH_OK;
  for (unsigned at = 0; at < sizeof field.modulus; at += degree)
    memcpy(field.modulus + at, modulus, degree);
  /* Degrees 8, 16, 32 have the indices 0, 1, 2. */
  gfs_algebra_routine *const *pair = routines()->polynomials[degree / 16];
  pair[polynomial != instructions_field](n * degree, a, b, out, &field);
  return GFSMITH_OK;
}

gfsmith_status gfsmith_multiply_matrices8(size_t n, const uint8_t *a, const uint8_t *b,
                                          uint8_t *out) {
  if (n > SIZE_MAX / MATRIX8 || (n > 0 && (a == NULL || b == NULL || out == NULL)))
    return GFSMITH_EINVAL;
  routines()->matrices8(n * MATRIX8, a, b, out, NULL);
  return GFSMITH_OK;
}

gfsmith_status gfsmith_multiply_matrices64(size_t n, const uint64_t *a, const uint64_t *b,
                                           uint64_t *out) {
  if (n > SIZE_MAX / MATRIX64 || (n > 0 && (a == NULL || b == NULL || out == NULL)))
    return GFSMITH_EINVAL;
  gfs_algebra_routine *run = routines()->matrices64;
  for (size_t m = 0; m < n; m++, a += ROWS, b += ROWS, out += ROWS) {
    /* Rows of b are read again for every row of a, and out may be b, so b is copied. */
    uint64_t right[ROWS];
    memcpy(right, b, sizeof right);
    run(MATRIX64, (const uint8_t *)a, (const uint8_t *)right, (uint8_t *)out, NULL);
  }
  return GFSMITH_OK;
}
