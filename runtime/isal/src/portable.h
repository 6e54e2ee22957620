/* portable.h: the whole interface in plain C, for ISA-L's _base functions and for cases without a
 * kernel.
 *
 * Only the coefficient of an entry is read. Any number of sources, any length, any alignment. */
#ifndef GFS_ISAL_PORTABLE_H
#define GFS_ISAL_PORTABLE_H

#include <stddef.h>
#include <stdint.h>

#include "call.h"
#include "dispatch.h"

/* dst (+)= sum over j of c[j] * src[j], c[j] at entries + 32 j. */
void gfs_isal_plain(size_t len, size_t inputs, const uint8_t *entries, const uint8_t *const *src,
                    uint8_t *dst, int add);

/* Compute one output of a call. operation: GFS_OPERATION_dot or GFS_OPERATION_mad. */
void gfs_isal_plain_output(const gfs_isal_call *call, gfs_operation operation, size_t output);

#endif
