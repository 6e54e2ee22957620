#include "short_calls.h"

#include "remembered_kernels.h"

_Atomic(gfsmith_kernel *) gfs_isal_short[GFS_OPERATION_mad + 1][GFS_ISAL_SHORT_OUTPUTS + 1];

/* The same for dot with more than GFS_ISAL_UNSEARCHED bytes: those of the path `second`, which are
 * also faster in the first-level cache on Zen 5 (docs/isal.md). */
static _Atomic(gfsmith_kernel *) longer[GFS_ISAL_SHORT_OUTPUTS + 1];

/* The most coefficients that are converted for a kernel of exactly these inputs and outputs. On Zen
 * 5 it then gains 1.1 to 1.2; 20 sources with 4 outputs lose 0.9. */
enum { CONVERTED = 40 };

static atomic_bool found;

static void find(_Atomic(gfsmith_kernel *) *place, const gfs_isa *isa, gfs_operation operation,
                 unsigned outputs, gfs_path path) {
  const unsigned inputs = operation == GFS_OPERATION_mad;
  gfsmith_kernel *kernel =
      gfs_dispatch_kernel_reading(isa, GFS_FORMAT_isal, operation, inputs, outputs, path);
  atomic_store_explicit(place, kernel, memory_order_relaxed);
}

void gfs_isal_find_short(const gfs_isa *isa) {
  if (atomic_load_explicit(&found, memory_order_relaxed))
    return;
  for (unsigned outputs = 1; outputs <= GFS_ISAL_SHORT_OUTPUTS; outputs++) {
    for (gfs_operation operation = GFS_OPERATION_dot; operation <= GFS_OPERATION_mad; operation++)
      find(&gfs_isal_short[operation][outputs], isa, operation, outputs, GFS_PATH_cached);
    find(&longer[outputs], isa, GFS_OPERATION_dot, outputs, GFS_PATH_second);
  }
  atomic_store_explicit(&found, true, memory_order_relaxed);
}

/* Does the conversion of the tables pay, because there is a kernel for exactly this shape? */
static bool converts(const gfs_isa *isa, gfs_path path, size_t inputs, unsigned outputs) {
  return path == GFS_PATH_second && inputs * outputs <= CONVERTED &&
         gfs_isal_kernel(isa, GFS_OPERATION_dot, inputs, outputs, path) !=
             gfs_isal_kernel(isa, GFS_OPERATION_dot, 0, outputs, path);
}

/* The best kernel for dot on a path in cache: of the known matrix or of the sum that the tables
 * contain, else `dense`; NULL if several kernels or other tables are needed. Short calls of this
 * shape then know the matrix. */
static gfsmith_kernel *compared(gfsmith_kernel *dense, gfs_path path, const uint8_t *entries,
                                size_t inputs, size_t outputs) {
  gfsmith_kernel *met =
      gfs_isal_met_kernel(gfs_isal_met(inputs, outputs), entries, inputs * outputs, path);
  if (met != NULL)
    return met;
  const gfs_isa *isa = gfs_dispatch_isa();
  const gfs_known_matrix *known = gfs_isal_known(isa, entries, inputs, outputs);
  if (known != NULL && known->outputs < outputs)
    return NULL;
  gfsmith_kernel *kernel[GFS_PATH_second + 1];
  for (gfs_path n = GFS_PATH_cached; known != NULL && n <= GFS_PATH_second; n++)
    kernel[n] = gfs_isal_known_kernel(isa, known, n);
  gfs_isal_meet(entries, inputs, outputs, known != NULL ? kernel : NULL);
  if (known != NULL)
    return kernel[path];
  if (outputs == 1 && gfs_isal_all_ones(entries, inputs))
    return gfs_isal_kernel(isa, GFS_OPERATION_xor, inputs, 1, path);
  return converts(isa, path, inputs, (unsigned)outputs) ? NULL : dense;
}

gfsmith_kernel *gfs_isal_dot(int len, int k, int rows, const uint8_t *entries) {
  if (!gfs_isal_within(len, GFS_OWN_CACHE_LEAST) || !gfs_isal_shape_is_short(k, rows) ||
      (size_t)len * (size_t)(k + rows) > GFS_OWN_CACHE_LEAST)
    return NULL;
  gfs_path path = gfs_path_of(GFSMITH_HINT_CACHED, (unsigned)(k + rows), (size_t)len);
  gfsmith_kernel *kernel = atomic_load_explicit(
      len > GFS_ISAL_UNSEARCHED ? &longer[rows] : &gfs_isal_short[GFS_OPERATION_dot][rows],
      memory_order_relaxed);
  if (kernel == NULL || !gfs_isal_rows_are_matrices(entries, (size_t)k, (size_t)k, (size_t)rows))
    return NULL;
  bool compare = len > GFS_ISAL_UNSEARCHED || path == GFS_PATH_second ||
                 (gfs_isal_compares(len, k, rows) &&
                  gfs_isal_met((size_t)k, (size_t)rows) == GFS_ISAL_MET_NOTHING);
  return compare ? compared(kernel, path, entries, (size_t)k, (size_t)rows) : kernel;
}
