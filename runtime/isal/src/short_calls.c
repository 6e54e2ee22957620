#include "short_calls.h"

#include "remembered_kernels.h"

_Atomic(gfsmith_kernel *) gfs_isal_dots[GFS_PATH_second + 1][GFS_ISAL_FEW_INPUTS + 1]
                                       [GFS_ISAL_SHORT_OUTPUTS + 1];
_Atomic(gfsmith_kernel *) gfs_isal_mads[GFS_ISAL_SHORT_OUTPUTS + 1];

atomic_int gfs_isal_form_read;

static atomic_bool found;

static gfsmith_kernel *find(_Atomic(gfsmith_kernel *) *place, const gfs_isa *isa,
                            gfs_operation operation, unsigned inputs, unsigned outputs,
                            gfs_path path) {
  gfs_format format =
      gfs_isal_read_form() == GFS_ISAL_MATRICES ? GFS_FORMAT_isal : GFS_FORMAT_isal_nibble;
  gfsmith_kernel *kernel =
      gfs_dispatch_kernel_reading(isa, format, operation, inputs, outputs, path);
  atomic_store_explicit(place, kernel, memory_order_relaxed);
  return kernel;
}

void gfs_isal_find_short(const gfs_isa *isa) {
  if (atomic_load_explicit(&found, memory_order_relaxed))
    return;
  atomic_store_explicit(&gfs_isal_form_read, (int)gfs_isal_form_of(isa), memory_order_relaxed);
  for (unsigned outputs = 1; outputs <= GFS_ISAL_SHORT_OUTPUTS; outputs++) {
    find(&gfs_isal_mads[outputs], isa, GFS_OPERATION_mad, 1, outputs, GFS_PATH_cached);
    for (gfs_path path = GFS_PATH_cached; path <= GFS_PATH_second; path++)
      find(&gfs_isal_dots[path][0][outputs], isa, GFS_OPERATION_dot, 0, outputs, path);
  }
  atomic_store_explicit(&found, true, memory_order_relaxed);
}

/* The kernel of dot for these inputs and outputs; NULL if there is none for any number of inputs.
 */
static gfsmith_kernel *kernel_of(gfs_path path, int k, int rows) {
  _Atomic(gfsmith_kernel *) *place = gfs_isal_place(path, k, rows);
  gfsmith_kernel *kernel = atomic_load_explicit(place, memory_order_relaxed);
  if (kernel != NULL)
    return kernel;
  kernel = atomic_load_explicit(&gfs_isal_dots[path][0][rows], memory_order_relaxed);
  return kernel == NULL ? NULL
                        : find(place, gfs_dispatch_isa(), GFS_OPERATION_dot, (unsigned)k,
                               (unsigned)rows, path);
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
  return dense;
}

gfsmith_kernel *gfs_isal_dot(int len, int k, int rows, const uint8_t *entries) {
  if (!gfs_isal_within(len, GFS_OWN_CACHE_LEAST) || !gfs_isal_shape_is_short(k, rows) ||
      (size_t)len * (size_t)(k + rows) > GFS_OWN_CACHE_LEAST)
    return NULL;
  gfs_path path = gfs_path_of(GFSMITH_HINT_CACHED, (unsigned)(k + rows), (size_t)len);
  gfsmith_kernel *kernel = kernel_of(gfs_isal_path(len), k, rows);
  if (kernel == NULL ||
      !gfs_isal_rows_are(gfs_isal_read_form(), entries, (size_t)k, (size_t)k, (size_t)rows))
    return NULL;
  bool searches = len > GFS_ISAL_UNSEARCHED || path == GFS_PATH_second;
  bool compare = searches
                     ? gfs_isal_may_be_known(gfs_isal_read_form(), entries, (size_t)k, (size_t)rows)
                     : (gfs_isal_compares(len, k, rows) &&
                        gfs_isal_met((size_t)k, (size_t)rows) == GFS_ISAL_MET_NOTHING);
  return compare ? compared(kernel, path, entries, (size_t)k, (size_t)rows) : kernel;
}
