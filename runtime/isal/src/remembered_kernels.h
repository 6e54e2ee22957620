/* remembered_kernels.h: kernels for calls without a codec, cached so that a short call searches
 * no list.
 *
 * Results are cached permanently in static tables: the instruction set is chosen at the first call
 * and does not change. */
#ifndef GFS_ISAL_REMEMBERED_KERNELS_H
#define GFS_ISAL_REMEMBERED_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "baked.h"
#include "dispatch.h"

/* As gfs_dispatch_kernel, with outputs from 1 to GFS_PASS_MAX and any number of inputs. Not for
 * horner. */
gfsmith_kernel *gfs_isal_kernel(const gfs_isa *isa, gfs_operation operation, size_t inputs,
                                unsigned outputs, gfs_path path);

/* As gfs_dispatch_wider, with outputs from 1 to GFS_PASS_MAX and any number of inputs. */
unsigned gfs_isal_wider(const gfs_isa *isa, size_t inputs, unsigned outputs);

/* gfs_traits_delay of gfs_isal_kernel(isa, GFS_OPERATION_dot, inputs, outputs, GFS_PATH_bulk). */
bool gfs_isal_is_delayed(const gfs_isa *isa, size_t inputs, unsigned outputs);

/* The known matrix with the most rows, at most `left`, that equals the first rows of these entries
 * and has kernels; NULL if there is none. */
const gfs_known_matrix *gfs_isal_known(const gfs_isa *isa, const uint8_t *entries, size_t inputs,
                                       size_t left);

/* As gfs_baked_kernel. */
gfsmith_kernel *gfs_isal_known_kernel(const gfs_isa *isa, const gfs_known_matrix *matrix,
                                      gfs_path path);

#endif
