/* locator.h: the error locator polynomial, which is 0 at the unknown points. */
#ifndef GFS_LOCATOR_H
#define GFS_LOCATOR_H

#include <stdbool.h>

#include "cantor.h"

/* Write for each of n points, a power of two, the logarithm of the product of its differences to
 * all other unknown points: the locator's value at a known point, its derivative at an unknown one.
 * work: n numbers, overwritten. */
void gfs_locator(const gfs_cantor *field, unsigned n, const bool *unknown, uint32_t *logarithm,
                 uint32_t *work);

#endif
