#include "short_calls.h"

#include "remembered_kernels.h"

_Atomic(gfsmith_kernel *) gfs_isal_short[GFS_OPERATION_mad + 1][GFS_ISAL_SHORT_OUTPUTS + 1];

static atomic_bool found;

void gfs_isal_find_short(const gfs_isa *isa) {
  if (atomic_load_explicit(&found, memory_order_relaxed))
    return;
  for (gfs_operation operation = GFS_OPERATION_dot; operation <= GFS_OPERATION_mad; operation++)
    for (unsigned outputs = 1; outputs <= GFS_ISAL_SHORT_OUTPUTS; outputs++)
      atomic_store_explicit(&gfs_isal_short[operation][outputs],
                            gfs_dispatch_kernel_reading(isa, GFS_FORMAT_isal, operation,
                                                        operation == GFS_OPERATION_mad, outputs,
                                                        GFS_PATH_cached),
                            memory_order_relaxed);
  atomic_store_explicit(&found, true, memory_order_relaxed);
}

/* Do the tables begin with entries of the form MATRICES in each row? Of a row, only the entries up
 * to the first that is not 0 are read. */
static bool rows_are_matrices(const uint8_t *entries, size_t inputs, size_t outputs) {
  for (; outputs > 0; outputs--, entries += inputs * GFS_ISAL_ENTRY) {
    const uint8_t *entry = entries;
    for (size_t left = inputs; left > 0 && !gfs_isal_is_matrices(entry);
         left--, entry += GFS_ISAL_ENTRY)
      if (entry[1] != 0)
        return false;
  }
  return true;
}

/* The best kernel for dot on a path in cache: of the known matrix or of the sum that the tables
 * contain, else `dense`; NULL if several kernels are needed. Short calls of this shape then know
 * the matrix. */
static gfsmith_kernel *compared(gfsmith_kernel *dense, gfs_path path, const uint8_t *entries,
                                size_t inputs, size_t outputs) {
  const gfs_isa *isa = gfs_dispatch_isa();
  const gfs_known_matrix *known = gfs_isal_known(isa, entries, inputs, outputs);
  if (known != NULL && known->outputs < outputs)
    return NULL;
  gfsmith_kernel *kernel =
      known != NULL ? gfs_isal_known_kernel(isa, known, GFS_PATH_cached) : NULL;
  gfs_isal_meet(entries, inputs, outputs, kernel);
  if (kernel != NULL)
    return gfs_isal_known_kernel(isa, known, path);
  if (outputs == 1 && gfs_isal_all_ones(entries, inputs))
    return gfs_isal_kernel(isa, GFS_OPERATION_xor, inputs, 1, path);
  return dense;
}

gfsmith_kernel *gfs_isal_dot(int len, int k, int rows, const uint8_t *entries) {
  if (!gfs_isal_within(len, GFS_OWN_CACHE_LEAST) || !gfs_isal_shape_is_short(k, rows) ||
      (size_t)len * (size_t)(k + rows) > GFS_OWN_CACHE_LEAST)
    return NULL;
  gfsmith_kernel *kernel =
      atomic_load_explicit(&gfs_isal_short[GFS_OPERATION_dot][rows], memory_order_relaxed);
  if (kernel == NULL || !rows_are_matrices(entries, (size_t)k, (size_t)rows))
    return NULL;
  gfs_path path = gfs_path_of(GFSMITH_HINT_CACHED, (unsigned)(k + rows), (size_t)len);
  bool compare = len > GFS_ISAL_UNSEARCHED || path == GFS_PATH_second ||
                 (gfs_isal_compares(len, k, rows) &&
                  gfs_isal_met((size_t)k, (size_t)rows) == GFS_ISAL_MET_NOTHING);
  return compare ? compared(kernel, path, entries, (size_t)k, (size_t)rows) : kernel;
}
