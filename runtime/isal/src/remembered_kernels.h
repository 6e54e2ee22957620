/* remembered_kernels.h: kernels for calls without a codec, cached so that a short call searches
 * no list.
 *
 * Results are cached permanently in static tables: the instruction set is chosen at the first call
 * and does not change. */
#ifndef GFS_ISAL_REMEMBERED_KERNELS_H
#define GFS_ISAL_REMEMBERED_KERNELS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "baked.h"
#include "dispatch.h"
#include "table_entries.h"

/* As gfs_dispatch_kernel, with outputs from 1 to GFS_PASS_MAX and any number of inputs. Not for
 * horner. */
gfsmith_kernel *gfs_isal_kernel(const gfs_isa *isa, gfs_operation operation, size_t inputs,
                                unsigned outputs, gfs_path path);

/* As gfs_dispatch_wider, with outputs from 1 to GFS_PASS_MAX and any number of inputs. */
unsigned gfs_isal_wider(const gfs_isa *isa, size_t inputs, unsigned outputs);

/* gfs_traits_delay of gfs_isal_kernel(isa, GFS_OPERATION_dot, inputs, outputs, GFS_PATH_bulk). */
bool gfs_isal_is_delayed(const gfs_isa *isa, size_t inputs, unsigned outputs);

/* The most inputs and outputs of shapes for which there are tables with a place for each. */
enum { GFS_ISAL_FEW_INPUTS = 48, GFS_ISAL_FEW_OUTPUTS = 8 };

/* By inputs and outputs: the bit of a byte of an entry, gfs_isal_name, is 1 if gfs_isal_known has
 * found that no known matrix with these inputs and at most these outputs begins with this entry,
 * nor with one of the coefficient 1. Entries have the form that kernels of the set in use read. */
enum { GFS_ISAL_OTHERS = 256 / 64 };
extern _Atomic(uint64_t) gfs_isal_others[GFS_ISAL_FEW_INPUTS + 1][GFS_ISAL_FEW_OUTPUTS + 1]
                                        [GFS_ISAL_OTHERS];

/* May rows of entries of the form that kernels read be those of a known matrix or of a sum?
 * outputs: 1 to GFS_ISAL_FEW_OUTPUTS. */
static inline bool gfs_isal_may_be_known(gfs_isal_form form, const uint8_t *entries, size_t inputs,
                                         size_t outputs) {
  if (inputs > GFS_ISAL_FEW_INPUTS)
    return true;
  unsigned name = gfs_isal_name(form, entries);
  const _Atomic(uint64_t) *others = &gfs_isal_others[inputs][outputs][name / 64];
  return (atomic_load_explicit(others, memory_order_relaxed) >> name % 64 & 1) == 0;
}

/* The known matrix with the most rows, at most `left`, that equals the first rows of these entries
 * and has kernels; NULL if there is none. */
const gfs_known_matrix *gfs_isal_known(const gfs_isa *isa, const uint8_t *entries, size_t inputs,
                                       size_t left);

/* As gfs_baked_kernel. */
gfsmith_kernel *gfs_isal_known_kernel(const gfs_isa *isa, const gfs_known_matrix *matrix,
                                      gfs_path path);

#endif
