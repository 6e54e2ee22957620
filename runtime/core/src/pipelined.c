#include "pipelined.h"

#include <stddef.h>

#define WALK_IS_ROWS_rows true
#define WALK_IS_ROWS_together false

const gfs_pipelined gfs_pipelined_kernels[] = {
#define GFSMITH_PIPELINED(symbol, isa, inputs, outputs, matrix, walk, shuffled, lines, store,      \
                          format)                                                                  \
  {symbol,                                                                                         \
   GFS_ISA_##isa,                                                                                  \
   inputs,                                                                                         \
   outputs,                                                                                        \
   GFS_MATRIX_##matrix,                                                                            \
   WALK_IS_ROWS_##walk,                                                                            \
   shuffled,                                                                                       \
   lines,                                                                                          \
   GFS_STORE_##store,                                                                              \
   GFS_FORMAT_##format},
#define GFSMITH_PIPELINED_ORDER(lines, ...)
#include "pipelined.inc"
#undef GFSMITH_PIPELINED
#undef GFSMITH_PIPELINED_ORDER
    {NULL, (gfs_isa_id)0, 0, 0, GFS_MATRIX_none, false, false, 0, GFS_STORE_temporal,
     GFS_FORMAT_none}};

static bool computes(const gfs_pipelined *kernel, const gfs_isa *isa,
                     const gfs_known_matrix *matrix, unsigned inputs, unsigned outputs) {
  if (kernel->isa != isa->id)
    return false;
  if (matrix != NULL)
    return &gfs_baked_matrices[kernel->matrix] == matrix;
  return kernel->matrix == GFS_MATRIX_none && kernel->format == isa->format &&
         (kernel->inputs == 0 || kernel->inputs == inputs) && kernel->outputs == outputs;
}

gfsmith_kernel *gfs_pipelined_row(const gfs_isa *isa, const gfs_known_matrix *matrix,
                                  unsigned inputs, unsigned outputs) {
  gfsmith_kernel *found = NULL;
  unsigned best = 0;
  for (const gfs_pipelined *kernel = gfs_pipelined_kernels; kernel->run != NULL; kernel++) {
    if (kernel->lines != 1 || !computes(kernel, isa, matrix, inputs, outputs))
      continue;
    unsigned rank =
        (kernel->store == GFS_STORE_streaming ? 3u : 1u) + (kernel->inputs != 0 ? 1u : 0u);
    if (rank > best) {
      found = kernel->run;
      best = rank;
    }
  }
  return found;
}
