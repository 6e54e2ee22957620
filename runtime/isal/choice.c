#include "choice.h"

#include <stdatomic.h>

#include "entry.h"
#include "map.h"

/* Kernels made for a number of inputs up to this are looked for; beyond, those for any number. */
enum { FIXED_MAX = 64 };

typedef _Atomic(gfsmith_kernel *) memory;

/* By operation, inputs (0: any), outputs and path. NULL: not looked up yet. All threads write the
 * same, so their order does not matter. */
static memory met[GFS_OPERATION_xor + 1][FIXED_MAX + 1][GFS_PASS_MAX + 1][GFS_PATHS];
static memory met_known[GFS_MATRICES + 1][GFS_PATHS]; /* +1: a build may know no matrix */

/* Stands for "there is none". */
static void none(size_t len, size_t k, const uint8_t *coeffs, const uint8_t *const *src,
                 uint8_t *const *dst) {
  (void)len, (void)k, (void)coeffs, (void)src, (void)dst;
}

static gfsmith_kernel *remember(memory *place, gfsmith_kernel *kernel) {
  atomic_store_explicit(place, kernel != NULL ? kernel : none, memory_order_relaxed);
  return kernel;
}

gfsmith_kernel *gfs_isal_kernel(const gfs_isa *isa, gfs_operation operation, size_t inputs,
                                unsigned outputs, gfs_path path) {
  unsigned fixed = inputs <= FIXED_MAX ? (unsigned)inputs : 0;
  memory *place = &met[operation][fixed][outputs][path];
  gfsmith_kernel *kernel = atomic_load_explicit(place, memory_order_relaxed);
  if (kernel == NULL)
    return remember(place, gfs_dispatch_kernel(isa, operation, fixed, outputs, path));
  return kernel != none ? kernel : NULL;
}

gfsmith_kernel *gfs_isal_known_kernel(const gfs_isa *isa, const gfs_known_matrix *matrix,
                                      gfs_path path) {
  memory *place = &met_known[matrix - gfs_baked_matrices][path];
  gfsmith_kernel *kernel = atomic_load_explicit(place, memory_order_relaxed);
  if (kernel == NULL)
    return remember(place, gfs_baked_kernel(isa, matrix, path));
  return kernel != none ? kernel : NULL;
}

static bool begin_with(const uint8_t *entries, const gfs_known_matrix *matrix) {
  size_t elements = (size_t)matrix->outputs * matrix->inputs;
  for (size_t n = 0; n < elements; n++)
    if (gfs_isal_coefficient(entries + n * GFS_ISAL_ENTRY) != matrix->elements[n])
      return false;
  return true;
}

const gfs_known_matrix *gfs_isal_known(const gfs_isa *isa, const uint8_t *entries, size_t inputs,
                                       size_t left) {
  const gfs_known_matrix *found = NULL;
  for (const gfs_known_matrix *matrix = gfs_baked_matrices; matrix->elements != NULL; matrix++)
    if (matrix->inputs == inputs && matrix->outputs <= left &&
        matrix->polynomial == GFSMITH_POLYNOMIAL &&
        (found == NULL || matrix->outputs > found->outputs) && begin_with(entries, matrix) &&
        gfs_isal_known_kernel(isa, matrix, GFS_PATH_cached) != NULL)
      found = matrix;
  return found;
}
