/* cantor.h: GF(2^8) and GF(2^16) with elements in Cantor's basis b[0] = 1, b[i]^2 + b[i] = b[i-1].
 * Bit i of an element is its coefficient at b[i].
 *
 * Source: D. G. Cantor, "On arithmetical algorithms over finite fields", Journal of Combinatorial
 * Theory A 50 (1989). */
#ifndef GFS_CANTOR_H
#define GFS_CANTOR_H

#include <stdint.h>

#include "gfsmith.h"

typedef struct gfs_cantor {
  unsigned order;      /* the number of elements */
  uint16_t *logarithm; /* of each element but 0, to the base x */
  uint16_t *power;     /* the powers of x, order - 1 of them */
} gfs_cantor;

/* Set up GF(2)[x] / polynomial, which is primitive of degree `width`. Errors: GFSMITH_ENOMEM. */
gfsmith_status gfs_cantor_create(gfs_cantor *field, unsigned width, unsigned polynomial);

void gfs_cantor_destroy(gfs_cantor *field);

/* a * x^exponent, exponent < order - 1. */
static inline unsigned gfs_cantor_scale(const gfs_cantor *field, unsigned a, unsigned exponent) {
  unsigned sum = field->logarithm[a] + exponent, period = field->order - 1;
  return a == 0 ? 0 : field->power[sum < period ? sum : sum - period];
}

#endif
