/* choice.h: kernels for calls that come without a codec, so that a short call searches no list.
 *
 * What is found is remembered for good, in static tables: the instruction set is chosen at the
 * first call and stays. */
#ifndef GFS_ISAL_CHOICE_H
#define GFS_ISAL_CHOICE_H

#include <stddef.h>
#include <stdint.h>

#include "baked.h"
#include "dispatch.h"

/* gfs_dispatch_kernel, outputs from 1 to GFS_PASS_MAX, any number of inputs. Not for horner. */
gfsmith_kernel *gfs_isal_kernel(const gfs_isa *isa, gfs_operation operation, size_t inputs,
                                unsigned outputs, gfs_path path);

/* The known matrix of most rows, at most `left`, with which these entries begin, row by row, and
 * for which there are kernels; NULL if there is none. */
const gfs_known_matrix *gfs_isal_known(const gfs_isa *isa, const uint8_t *entries, size_t inputs,
                                       size_t left);

/* gfs_baked_kernel. */
gfsmith_kernel *gfs_isal_known_kernel(const gfs_isa *isa, const gfs_known_matrix *matrix,
                                      gfs_path path);

#endif
