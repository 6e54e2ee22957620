/* The computation of a slice. */
#ifndef GFC_COMPUTE_H
#define GFC_COMPUTE_H

#include "operation.h"

/* Compute slice s and write its trailers, or continue with it, for at most *room bytes of inputs
 * and outputs; the computed bytes are subtracted from *room. `whole`: is the slice complete? Any
 * thread, one at a time. */
int gfc_compute(gfsmith_operation *operation, size_t s, size_t *room, bool *whole);

#endif
