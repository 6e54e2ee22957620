/* short_calls.h: calls in cache with a kernel that reads ISA-L's tables in place, and with as
 * little other work as possible, which takes as long as the kernel if the shards are short. The
 * functions have parameters of ISA-L's types, of which one comparison each excludes negative
 * values. */
#ifndef GFS_ISAL_SHORT_CALLS_H
#define GFS_ISAL_SHORT_CALLS_H

#include <stdatomic.h>

#include "dispatch.h"
#include "inlining.h"
#include "met_tables.h"
#include "remembered_kernels.h"
#include "table_entries.h"

/* The most sources and outputs of such a call. */
enum { GFS_ISAL_SHORT_INPUTS = 248, GFS_ISAL_SHORT_OUTPUTS = GFS_ISAL_FEW_OUTPUTS };

/* The most bytes of a shard for which dot does not compare its tables with the known matrix of
 * their shape (met_tables.h), and for which it does not look for others: then the comparisons take
 * about as long as the kernel of the known matrix gains. Between the first two lengths that kernel
 * gains more if the length times the number of coefficients is greater than GFS_ISAL_MANY. */
enum { GFS_ISAL_NEVER_COMPARED = 128, GFS_ISAL_UNCOMPARED = 256, GFS_ISAL_UNSEARCHED = 512 };
enum { GFS_ISAL_MANY = 6144 };

/* All calls up to these limits are in cache on every CPU. */
_Static_assert(GFS_ISAL_UNSEARCHED *(GFS_ISAL_SHORT_INPUTS + GFS_ISAL_SHORT_OUTPUTS) <=
                   GFS_OWN_CACHE_LEAST,
               "a short call has to be in cache");

/* Kernels of dot on the paths in cache, by inputs (0: any number) and outputs, and of mad of one
 * input, by outputs, that read tables in place. NULL if there is none, or if it was not looked up
 * yet: those for any number and mad by gfs_isal_find_short, others by gfs_isal_dot. */
extern _Atomic(gfsmith_kernel *) gfs_isal_dots[GFS_PATH_second + 1][GFS_ISAL_FEW_INPUTS + 1]
                                              [GFS_ISAL_SHORT_OUTPUTS + 1];
extern _Atomic(gfsmith_kernel *) gfs_isal_mads[GFS_ISAL_SHORT_OUTPUTS + 1];

/* The form of the tables that these kernels read, a gfs_isal_form. */
extern atomic_int gfs_isal_form_read;

static inline gfs_isal_form gfs_isal_read_form(void) {
  return (gfs_isal_form)atomic_load_explicit(&gfs_isal_form_read, memory_order_relaxed);
}

/* Look up the kernels for any number of inputs, and of mad, for this instruction set if no call
 * did. */
void gfs_isal_find_short(const gfs_isa *isa);

/* Is 1 <= value <= most? */
static inline bool gfs_isal_within(int value, unsigned most) { return (unsigned)value - 1 < most; }

/* May a comparison with the known matrix of the shape pay for dot, in cache on every CPU? */
static inline bool gfs_isal_compares(int len, int k, int rows) {
  return GFS_UNLIKELY(len > GFS_ISAL_NEVER_COMPARED) &&
         (len > GFS_ISAL_UNCOMPARED || len * k * rows > GFS_ISAL_MANY);
}

/* Do the tables begin with an entry of this form in each of 1 to GFS_ISAL_SHORT_OUTPUTS rows? False
 * also if a coefficient there is 0. No jump is taken before the last row. */
static inline bool gfs_isal_rows_begin_as(gfs_isal_form form, const uint8_t *entries, size_t stride,
                                          size_t outputs) {
  GFS_UNROLLED
  for (size_t row = 0; row < GFS_ISAL_SHORT_OUTPUTS; row++, entries += stride * GFS_ISAL_ENTRY) {
    if (GFS_UNLIKELY(!gfs_isal_has_form(form, entries)))
      return false;
    if (row + 1 == outputs)
      break;
  }
  return true;
}

/* Do they begin so, in the form that kernels read? */
static inline bool gfs_isal_can_be_read(const uint8_t *entries, size_t stride, size_t outputs) {
  return gfs_isal_read_form() == GFS_ISAL_MATRICES
             ? gfs_isal_rows_begin_as(GFS_ISAL_MATRICES, entries, stride, outputs)
             : gfs_isal_rows_begin_as(GFS_ISAL_PRODUCTS, entries, stride, outputs);
}

/* The place of the kernel for these inputs and outputs. */
static inline _Atomic(gfsmith_kernel *) *gfs_isal_place(gfs_path path, int k, int rows) {
  return &gfs_isal_dots[path][k <= GFS_ISAL_FEW_INPUTS ? k : 0][rows];
}

/* The kernel for a path that reads these tables in place, if they have its form; else NULL. */
static inline gfsmith_kernel *gfs_isal_dense(gfs_path path, int k, int rows,
                                             const uint8_t *entries) {
  return gfs_isal_can_be_read(entries, (size_t)k, (size_t)rows)
             ? atomic_load_explicit(gfs_isal_place(path, k, rows), memory_order_relaxed)
             : NULL;
}

static inline bool gfs_isal_shape_is_short(int k, int rows) {
  return gfs_isal_within(k, GFS_ISAL_SHORT_INPUTS) && gfs_isal_within(rows, GFS_ISAL_SHORT_OUTPUTS);
}

/* Return the kernel for the call gfs_isal_apply(len, k, rows, ..., k, ...), GFS_OPERATION_dot,
 * for which no comparison pays. NULL: another function may know one. */
static inline gfsmith_kernel *gfs_isal_short_dot(int len, int k, int rows, const uint8_t *entries) {
  bool is_short = gfs_isal_within(len, GFS_ISAL_UNCOMPARED) && gfs_isal_shape_is_short(k, rows) &&
                  !gfs_isal_compares(len, k, rows);
  return is_short ? gfs_isal_dense(GFS_PATH_cached, k, rows, entries) : NULL;
}

/* The path whose kernels read tables in place: above GFS_ISAL_UNSEARCHED those of `second` are also
 * faster in the first-level cache on Zen 5 (docs/isal.md). */
static inline gfs_path gfs_isal_path(int len) {
  return len > GFS_ISAL_UNSEARCHED ? GFS_PATH_second : GFS_PATH_cached;
}

/* The same for longer shards, if the matrix is the one that is kept for its shape, or if no search
 * for a known matrix pays. NULL: gfs_isal_dot may know one. */
static inline gfsmith_kernel *gfs_isal_met_dot(int len, int k, int rows, const uint8_t *entries) {
  if (!gfs_isal_within(len, GFS_FIRST_CACHE_LEAST) || !gfs_isal_shape_is_short(k, rows) ||
      (size_t)len * (size_t)(k + rows) > GFS_FIRST_CACHE_LEAST)
    return NULL;
  unsigned met = gfs_isal_met((size_t)k, (size_t)rows);
  gfsmith_kernel *kernel =
      gfs_isal_met_kernel(met, entries, (size_t)k * (size_t)rows, GFS_PATH_cached);
  if (kernel != NULL)
    return kernel;
  bool searches = len > GFS_ISAL_UNSEARCHED ? gfs_isal_may_be_known(gfs_isal_read_form(), entries,
                                                                    (size_t)k, (size_t)rows)
                                            : met == GFS_ISAL_MET_NOTHING;
  return searches ? NULL : gfs_isal_dense(gfs_isal_path(len), k, rows, entries);
}

/* The same for any length and any entries; NULL if gfs_isal_apply has to convert the tables, or the
 * call is not in cache. */
gfsmith_kernel *gfs_isal_dot(int len, int k, int rows, const uint8_t *entries);

/* The most outputs of mad with tables of products for which kernels read these in place beyond
 * GFS_ISAL_UNSEARCHED bytes of a shard; with more, kernels of fewer outputs in turn are faster. */
enum { GFS_ISAL_MOST_TOGETHER = 4 };

/* The same for GFS_OPERATION_mad of one source, with the entries of its column. */
static inline gfsmith_kernel *gfs_isal_short_mad(int len, int k, int rows, const uint8_t *entries) {
  bool together = rows <= GFS_ISAL_MOST_TOGETHER || gfs_isal_read_form() == GFS_ISAL_MATRICES;
  unsigned most =
      together ? GFS_OWN_CACHE_LEAST / (1 + GFS_ISAL_SHORT_OUTPUTS) : GFS_ISAL_UNSEARCHED;
  if (!gfs_isal_within(len, most) || k <= 0 || !gfs_isal_within(rows, GFS_ISAL_SHORT_OUTPUTS) ||
      !gfs_isal_can_be_read(entries, (size_t)k, (size_t)rows))
    return NULL;
  return atomic_load_explicit(&gfs_isal_mads[rows], memory_order_relaxed);
}

#endif
