/* Declares everything twice, by Jerasure's headers and by gfsmith's: the compiler compares the
 * prototypes, and this program the layout of fields and the order of an operation. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <jerasure.h>
#include <jerasure/cauchy.h>
#include <jerasure/liberation.h>
#include <jerasure/reed_sol.h>

#include "../../../../runtime/jerasure/include/jerasure.h"
#include "../../../../runtime/jerasure/include/jerasure/cauchy.h"
#include "../../../../runtime/jerasure/include/jerasure/liberation.h"
#include "../../../../runtime/jerasure/include/jerasure/reed_sol.h"

_Static_assert(offsetof(gf_t, multiply) == 0 && offsetof(gf_t, divide) == sizeof(void *), "gf_t");
_Static_assert(offsetof(gf_t, inverse) == 2 * sizeof(void *), "gf_t");
_Static_assert(offsetof(gf_t, multiply_region) == 3 * sizeof(void *), "gf_t");
_Static_assert(offsetof(gf_t, extract_word) == 4 * sizeof(void *), "gf_t");
_Static_assert(offsetof(gf_t, scratch) == 5 * sizeof(void *) && sizeof(gf_t) == 6 * sizeof(void *),
               "gf_t");

int main(void) {
  int *matrix = reed_sol_vandermonde_coding_matrix(3, 2, 8);
  galois_init_default_field(16);
  gf_t *field = galois_get_field_ptr(16);
  printf("%d %u\n", matrix[4], field->multiply.w32(field, 0x8000, 2));
  free(matrix);
  return 0;
}
