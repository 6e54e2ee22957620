/* baked.h: kernels for matrices that were known when the library was generated. */
#ifndef GFS_BAKED_H
#define GFS_BAKED_H

#include <stdint.h>

#include "dispatch.h"
#include "field.h"

/* A matrix with kernels of its own: `outputs` rows of `inputs` elements, row-major. */
typedef struct gfs_known_matrix {
  const uint8_t *elements;
  unsigned polynomial;
  unsigned outputs;
  unsigned inputs;
} gfs_known_matrix;

/* The number of known matrices. */
enum {
#define GFSMITH_MATRIX(id, polynomial, outputs, inputs, ...) GFS_MATRIX_##id,
#include "matrices.inc"
#undef GFSMITH_MATRIX
  GFS_MATRICES,
  GFS_MATRIX_none = GFS_MATRICES
};

/* All known matrices; an additional element without matrix ends the list. */
extern const gfs_known_matrix gfs_baked_matrices[];

/* The known matrix with the most rows, at most `left`, that equals the first of the rows of
 * `inputs` elements from `rows` on and for which this instruction set has a kernel. NULL: none. */
const gfs_known_matrix *gfs_baked_find(const gfs_isa *isa, const gfs_field *field, unsigned inputs,
                                       unsigned left, const uint8_t *rows);

/* The kernel of a known matrix that suits the path best. Coefficients are not compared. */
gfsmith_kernel *gfs_baked_kernel(const gfs_isa *isa, const gfs_known_matrix *matrix, gfs_path path);

/* The accesses of a kernel that gfs_baked_kernel or gfs_dispatch_kernel chooses. */
gfs_traits gfs_baked_traits(gfsmith_kernel *run);

#endif
