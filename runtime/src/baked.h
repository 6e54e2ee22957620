/* baked.h: kernels made for a matrix that was known when the library was generated. */
#ifndef GFS_BAKED_H
#define GFS_BAKED_H

#include <stdint.h>

#include "dispatch.h"
#include "field.h"

/* A matrix that kernels were made for: `outputs` rows of `inputs` elements, row-major. */
typedef struct gfs_known_matrix {
  const uint8_t *elements;
  unsigned polynomial;
  unsigned outputs;
  unsigned inputs;
} gfs_known_matrix;

/* How many matrices are known. */
enum {
#define GFSMITH_MATRIX(id, polynomial, outputs, inputs, ...) GFS_MATRIX_##id,
#include "matrices.inc"
#undef GFSMITH_MATRIX
  GFS_MATRICES
};

/* All of them; one more element without elements ends the list. */
extern const gfs_known_matrix gfs_baked_matrices[];

/* The known matrix of most rows, not more than `left`, that the rows of `inputs` elements from
 * `rows` on begin with, and for which there is a kernel of this instruction set. NULL: none. */
const gfs_known_matrix *gfs_baked_find(const gfs_isa *isa, const gfs_field *field, unsigned inputs,
                                       unsigned left, const uint8_t *rows);

/* Its kernel that suits the path best. It looks at no coefficients. */
gfsmith_kernel *gfs_baked_kernel(const gfs_isa *isa, const gfs_known_matrix *matrix, gfs_path path);

#endif
