/* pipelined.h: kernels that prefetch from addresses in a second part of their array of pointers. */
#ifndef GFS_PIPELINED_H
#define GFS_PIPELINED_H

#include <stdbool.h>

#include "baked.h"
#include "dispatch.h"

/* A pipelined dot kernel. Its src has `inputs` pointers more for each line of an iteration, in the
 * order of visits; an iteration at position p prefetches p bytes behind each of them. */
typedef struct gfs_pipelined {
  gfsmith_kernel *run;
  gfs_isa_id isa;
  unsigned inputs; /* 0: any */
  unsigned outputs;
  unsigned matrix; /* position in gfs_baked_matrices; GFS_MATRIX_none: a kernel with tables */
  bool rows;       /* an iteration visits a line of every source, then the next line of each */
  bool shuffled;   /* not in the order of addresses */
  unsigned lines;  /* of each source in an iteration */
  gfs_store store;
  gfs_format format;
} gfs_pipelined;

/* The pipelined kernels of the build; an element without kernel ends the list. */
extern const gfs_pipelined gfs_pipelined_kernels[];

/* The kernel that prefetches a line of one address for each line of a source, which suits calls on
 * one stripe after the other: for a known matrix, or with tables for `matrix` NULL. Kernels with
 * streaming stores are preferred, and among these for this number of inputs. NULL: the build has
 * none. */
gfsmith_kernel *gfs_pipelined_row(const gfs_isa *isa, const gfs_known_matrix *matrix,
                                  unsigned inputs, unsigned outputs);

#endif
