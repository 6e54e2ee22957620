/* locator.h: the error locator polynomial, which is 0 at the unknown points. */
#ifndef GFS_LOCATOR_H
#define GFS_LOCATOR_H

#include <stdbool.h>

#include "cantor.h"

/* Write the transforms of Walsh and Hadamard of the logarithms of 1, 2, 4, .., most points: that of
 * n points is n numbers from number n on. */
void gfs_locator_prepare(const gfs_cantor *field, unsigned most, uint32_t *spectra);

/* Write for each of n points, a power of two, the logarithm of the product of its differences to
 * all other unknown points: the locator's value at a known point, its derivative at an unknown one.
 */
void gfs_locator(const gfs_cantor *field, unsigned n, const uint32_t *spectra, const bool *unknown,
                 uint32_t *logarithm);

#endif
