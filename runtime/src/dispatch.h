/* dispatch.h: the instruction sets and kernels this build has, and the choice among them. */
#ifndef GFS_DISPATCH_H
#define GFS_DISPATCH_H

#include <stdint.h>

#include "gfsmith_kernels.h"
#include "tables.h"

typedef struct gfs_isa {
  const char *name;
  gfs_format format; /* of its kernels' coefficients */
  uint32_t features; /* GFSMITH_CPU_*, all needed */
} gfs_isa;

typedef enum gfs_operation {
  GFS_OPERATION_dot, /* dst[i]  = sum over j of c[i][j] * src[j] */
  GFS_OPERATION_mad, /* dst[i] += sum over j of c[i][j] * src[j] */
  GFS_OPERATION_mul, /* dst[j]  = c[j] * src[j] */
  GFS_OPERATION_xor  /* dst[0]  = sum over j of src[j] */
} gfs_operation;

/* The instruction set in force: chosen on first use, changed by gfsmith_set_isa. NULL if this build
 * has none that this CPU supports. */
const gfs_isa *gfs_dispatch_isa(void);

/* The kernel that codecs use for an operation with this many inputs and outputs: one made for
 * exactly these inputs if the build has it, else one for any number; NULL if it has neither.
 * This is the one place where a kernel is chosen. */
gfsmith_kernel *gfs_dispatch_kernel(const gfs_isa *isa, gfs_operation operation, unsigned inputs,
                                    unsigned outputs);

#endif
