#include "codes.h"

#include <stddef.h>
#include <string.h>

/* (2^i)^j, as ISA-L gf_gen_rs_matrix. 2 generates the field of 0x11d, so that is 2^(i*j). */
static uint8_t vandermonde_element(const gfs_field *field, unsigned k, unsigned i, unsigned j) {
  (void)k;
  return field->exp[field->log[2] * i * j % 255];
}

/* The shapes that ISA-L's erasure_code.h names as safe. With at most three rows (or columns) every
 * minor is that of a generalised Vandermonde matrix that is never singular; the bounds for four and
 * five were found by search, and the tests repeat it. */
static bool vandermonde_is_mds(unsigned k, unsigned m) {
  return m <= 3 || k <= 3 || (m == 4 && k <= 21) || (k == 4 && k + m <= 25) ||
         (k == 5 && k + m <= 10);
}

/* 1 / (x_i + y_j), x_i = k + i, y_j = j, as ISA-L gf_gen_cauchy1_matrix. */
static uint8_t cauchy_element(const gfs_field *field, unsigned k, unsigned i, unsigned j) {
  return gfs_field_inverse(field, (uint8_t)((k + i) ^ j));
}

/* All points x_i and y_j differ, so by Cauchy's determinant no minor is zero. */
static bool cauchy_is_mds(unsigned k, unsigned m) {
  (void)k;
  (void)m;
  return true;
}

static const gfs_code codes[] = {
    {"vandermonde", vandermonde_is_mds, vandermonde_element},
    {"cauchy", cauchy_is_mds, cauchy_element},
};

const gfs_code *gfs_code_find(const char *name) {
  for (size_t n = 0; n < sizeof codes / sizeof codes[0]; n++)
    if (strcmp(codes[n].name, name) == 0)
      return &codes[n];
  return NULL;
}
