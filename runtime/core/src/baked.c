#include "baked.h"

#include <stddef.h>
#include <string.h>

/* The last element ends the list, and avoids an empty array in a build without known matrices. */
const gfs_known_matrix gfs_baked_matrices[] = {
#define GFSMITH_MATRIX(id, polynomial, outputs, inputs, ...)                                       \
  {(const uint8_t[]){__VA_ARGS__}, polynomial, outputs, inputs},
#include "matrices.inc"
#undef GFSMITH_MATRIX
    {NULL, 0, 0, 0},
};

typedef struct baked_row {
  gfsmith_kernel *run; /* NULL ends the list */
  gfs_isa_id isa;
  unsigned matrix; /* position in gfs_baked_matrices */
  gfs_store store;
  unsigned prefetch; /* bytes ahead; 0: none */
} baked_row;

static const baked_row baked_kernels[] = {
#define GFSMITH_BAKED(symbol, isa, matrix, store, prefetch)                                        \
  {symbol, GFS_ISA_##isa, GFS_MATRIX_##matrix, GFS_STORE_##store, prefetch},
#include "baked.inc"
#undef GFSMITH_BAKED
    {NULL, (gfs_isa_id)0, GFS_MATRICES, GFS_STORE_temporal, 0},
};

gfsmith_kernel *gfs_baked_kernel(const gfs_isa *isa, const gfs_known_matrix *matrix,
                                 gfs_path path) {
  gfsmith_kernel *best = NULL;
  unsigned best_rank = 0;
  for (const baked_row *row = baked_kernels; row->run != NULL; row++) {
    if (row->isa != isa->id || &gfs_baked_matrices[row->matrix] != matrix)
      continue;
    unsigned rank = gfs_dispatch_rank(row->run, path, row->store, row->prefetch);
    if (rank > best_rank) {
      best = row->run;
      best_rank = rank;
    }
  }
  return best;
}

const gfs_known_matrix *gfs_baked_find(const gfs_isa *isa, const gfs_field *field, unsigned inputs,
                                       unsigned left, const uint8_t *rows) {
  const gfs_known_matrix *found = NULL;
  for (const gfs_known_matrix *matrix = gfs_baked_matrices; matrix->elements != NULL; matrix++)
    if (matrix->inputs == inputs && matrix->polynomial == field->polynomial &&
        matrix->outputs <= left && (found == NULL || matrix->outputs > found->outputs) &&
        memcmp(matrix->elements, rows, (size_t)matrix->outputs * inputs) == 0 &&
        gfs_baked_kernel(isa, matrix, GFS_PATH_cached) != NULL)
      found = matrix;
  return found;
}

gfs_traits gfs_baked_traits(gfsmith_kernel *run) {
  for (const baked_row *row = baked_kernels; row->run != NULL; row++)
    if (row->run == run)
      return (gfs_traits){row->store, row->prefetch, false};
  return gfs_dispatch_traits(run);
}
