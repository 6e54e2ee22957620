/* pointers.h: the check of the pointers of many stripes. */
#ifndef GFS_POINTERS_H
#define GFS_POINTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dispatch.h"

/* gfs_all_given for the pointers of many stripes. If the instruction set includes AVX2, vectors
 * read four at a time: with a load for each pointer, the check takes a tenth of a call on stripes
 * of 64 bytes. */
bool gfs_many_given(const gfs_isa *isa, const uint8_t *const *pointers, size_t count);

#endif
