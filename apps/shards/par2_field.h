/* GF(2^16) of PAR2: the polynomial 0x1100b, whose root 2 generates all elements but 0. */
#ifndef TOOL_PAR2_FIELD_H
#define TOOL_PAR2_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control.h"

enum { PAR2_POLYNOMIAL = 0x1100b, PAR2_ORDER = 65535 /* elements but 0 */ };

typedef struct par2_field {
  uint16_t log[PAR2_ORDER + 1]; /* log[0] is not used */
  uint16_t power[PAR2_ORDER];   /* power[n] = 2^n */
} par2_field;

void par2_field_fill(par2_field *field);

/* The logarithms of the constants of the blocks 0 to count - 1, count <= PAR2_MOST_BLOCKS: the
 * numbers that have no factor in common with 65535, in ascending order. */
void par2_constants(uint16_t *logs, size_t count);

/* The coefficient of a block in the recovery block of an exponent: its constant to that power. */
static inline uint16_t par2_coefficient(const par2_field *field, unsigned log, unsigned exponent) {
  return field->power[(uint64_t)log * exponent % PAR2_ORDER];
}

/* Invert a system of equations: `rows` >= columns equations with `columns` unknowns, row-major.
 * On success, unknown c = sum over d of matrix[pivot[c]][d] * (right side of equation pivot[d]).
 * False: the equations do not determine the unknowns. */
bool par2_invert(const par2_field *field, const control *call, uint16_t *matrix, size_t rows,
                 size_t columns, size_t *pivot);

#endif
