#include "cantor.h"

#include <stdlib.h>

/* Powers and logarithms in the polynomial basis. */
static void fill_polynomial_basis(unsigned order, unsigned polynomial, uint16_t *power,
                                  uint16_t *logarithm) {
  unsigned x = 1;
  for (unsigned n = 0; n < order - 1; n++) {
    power[n] = (uint16_t)x;
    logarithm[x] = (uint16_t)n;
    x <<= 1;
    if (x >= order)
      x ^= polynomial;
  }
}

/* The even solution y of y^2 + y = a; the other one is y + 1. 0 if there is none. */
static unsigned half_of(unsigned order, const uint16_t *power, const uint16_t *logarithm,
                        unsigned a) {
  for (unsigned y = 2; y < order; y += 2)
    if ((power[2u * logarithm[y] % (order - 1)] ^ y) == a)
      return y;
  return 0;
}

/* element[a]: the element with coefficients a in Cantor's basis, in the polynomial basis. */
static void fill_elements(unsigned order, const uint16_t *power, const uint16_t *logarithm,
                          uint16_t *element) {
  unsigned basis = 1;
  element[0] = 0;
  for (unsigned bit = 1; bit < order; bit <<= 1) {
    for (unsigned a = 0; a < bit; a++)
      element[a | bit] = (uint16_t)(element[a] ^ basis);
    basis = half_of(order, power, logarithm, basis);
  }
}

gfsmith_status gfs_cantor_create(gfs_cantor *field, unsigned width, unsigned polynomial) {
  unsigned order = 1u << width;
  uint16_t *power = calloc((size_t)order * 2, sizeof *power);
  uint16_t *work = calloc((size_t)order * 2, sizeof *work);
  if (power == NULL || work == NULL) {
    free(power);
    free(work);
    return GFSMITH_ENOMEM;
  }
  uint16_t *logarithm = work, *element = work + order;
  *field = (gfs_cantor){.order = order, .power = power, .logarithm = power + order};
  fill_polynomial_basis(order, polynomial, power, logarithm);
  fill_elements(order, power, logarithm, element);
  for (unsigned a = 1; a < order; a++)
    field->logarithm[a] = logarithm[element[a]];
  for (unsigned a = 1; a < order; a++)
    power[field->logarithm[a]] = (uint16_t)a;
  free(work);
  return GFSMITH_OK;
}

void gfs_cantor_destroy(gfs_cantor *field) { free(field->power); }
