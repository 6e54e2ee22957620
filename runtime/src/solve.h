/* solve.h: linear equations over GF(2^8). */
#ifndef GFS_SOLVE_H
#define GFS_SOLVE_H

#include <stdbool.h>
#include <stdint.h>

#include "field.h"

/* Solve A * Y = B exactly, whatever the rank of A.
 *
 * system: `equations` rows of [A | B], with `unknowns` columns of A and `targets` columns of B,
 *     row-major; overwritten.
 * solution: `unknowns` rows of `targets`, Y. Of several solutions, the one that uses the earliest
 *     unknowns: an unknown that depends on earlier ones is 0.
 *
 * Returns false if some target has no solution; solution is then left as it was. */
bool gfs_solve(const gfs_field *field, unsigned equations, unsigned unknowns, unsigned targets,
               uint8_t *system, uint8_t *solution);

#endif
