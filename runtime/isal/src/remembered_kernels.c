#include "remembered_kernels.h"

#include <stdatomic.h>
#include <string.h>

#include "map.h"
#include "table_entries.h"

/* Up to this number of inputs, kernels for a fixed number of inputs are considered; beyond, only
 * those for any number. */
enum { FIXED_MAX = 64 };

typedef _Atomic(gfsmith_kernel *) memory;

/* A cache by operation, inputs (0: any), outputs and path. NULL: not looked up yet. All threads
 * write the same values, so their order does not matter. */
static memory met[GFS_OPERATION_xor + 1][FIXED_MAX + 1][GFS_PASS_MAX + 1][GFS_PATHS];
/* gfs_dispatch_wider + 1, by inputs and outputs; 0: not looked up yet. */
static _Atomic(uint8_t) met_wider[FIXED_MAX + 1][GFS_PASS_MAX + 1];
/* gfs_traits_delay + 1 of the kernel for any number of inputs, by outputs; 0: not looked up
 * yet. */
static _Atomic(uint8_t) met_delayed[GFS_PASS_MAX + 1];
static memory met_known[GFS_MATRICES + 1][GFS_PATHS]; /* +1: a build may have no known matrix */

/* Marks "there is no kernel" in the cache. */
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

unsigned gfs_isal_wider(const gfs_isa *isa, size_t inputs, unsigned outputs) {
  if (inputs > FIXED_MAX)
    return 0;
  _Atomic(uint8_t) *place = &met_wider[inputs][outputs];
  unsigned known = atomic_load_explicit(place, memory_order_relaxed);
  if (known != 0)
    return known - 1;
  unsigned wide = gfs_dispatch_wider(isa, (unsigned)inputs, outputs);
  atomic_store_explicit(place, (uint8_t)(wide + 1), memory_order_relaxed);
  return wide;
}

bool gfs_isal_is_delayed(const gfs_isa *isa, size_t inputs, unsigned outputs) {
  gfsmith_kernel *any = gfs_isal_kernel(isa, GFS_OPERATION_dot, 0, outputs, GFS_PATH_bulk);
  if (gfs_isal_kernel(isa, GFS_OPERATION_dot, inputs, outputs, GFS_PATH_bulk) != any)
    return false;
  unsigned known = atomic_load_explicit(&met_delayed[outputs], memory_order_relaxed);
  if (known != 0)
    return known - 1;
  bool delayed = gfs_traits_delay(gfs_dispatch_traits(any));
  atomic_store_explicit(&met_delayed[outputs], (uint8_t)(delayed + 1), memory_order_relaxed);
  return delayed;
}

gfsmith_kernel *gfs_isal_known_kernel(const gfs_isa *isa, const gfs_known_matrix *matrix,
                                      gfs_path path) {
  memory *place = &met_known[matrix - gfs_baked_matrices][path];
  gfsmith_kernel *kernel = atomic_load_explicit(place, memory_order_relaxed);
  if (kernel == NULL)
    return remember(place, gfs_baked_kernel(isa, matrix, path));
  return kernel != none ? kernel : NULL;
}

static inline uint64_t matrix_of(const uint8_t *entry) {
  uint64_t matrix;
  memcpy(&matrix, entry, sizeof matrix);
  return matrix;
}

/* The bits in which a matrix differs from that of an element. */
static inline uint64_t difference(const uint8_t *entry, uint8_t element) {
  return matrix_of(entry) ^ matrix_of(gfs_isal_matrices[element]);
}

/* Are these the elements of `count` contiguous entries of the form MATRICES? Without an exit and
 * four at a time, because a short call takes little longer than the comparison. */
static inline bool are_matrices(const uint8_t *entries, const uint8_t *elements, size_t count) {
  uint64_t differ = 0;
  for (; count >= 4; count -= 4, elements += 4, entries += 4 * GFS_ISAL_ENTRY)
    differ |= difference(entries, elements[0]) | difference(entries + GFS_ISAL_ENTRY, elements[1]) |
              difference(entries + 2 * GFS_ISAL_ENTRY, elements[2]) |
              difference(entries + 3 * GFS_ISAL_ENTRY, elements[3]);
  for (; count > 0; count--, elements++, entries += GFS_ISAL_ENTRY)
    differ |= difference(entries, *elements);
  return differ == 0;
}

/* Are these the elements of `count` contiguous entries? Most matrices differ in the first element.
 */
static inline bool are(const uint8_t *entries, const uint8_t *elements, size_t count) {
  if (!gfs_isal_has(entries, elements[0]))
    return false;
  if (gfs_isal_is_matrices(entries))
    return are_matrices(entries, elements, count);
  for (size_t n = 1; n < count; n++)
    if (!gfs_isal_has(entries + n * GFS_ISAL_ENTRY, elements[n]))
      return false;
  return true;
}

/* By number of inputs: begin and end of the matrices with this number in the list, in the low and
 * the high half; 0: not looked up yet. */
static _Atomic(uint32_t) ranges[GFSMITH_MAX_SHARDS + 1];

_Atomic(uint64_t) gfs_isal_others[GFS_ISAL_FEW_INPUTS + 1][GFS_ISAL_FEW_OUTPUTS + 1]
                                 [GFS_ISAL_OTHERS];

static void remove_bit(const gfs_isa *isa, uint64_t *others, uint8_t c) {
  unsigned name = gfs_isal_form_of(isa) == GFS_ISAL_MATRICES ? gfs_isal_matrices[c][0] : c;
  others[name / 64] &= ~(UINT64_C(1) << name % 64);
}

/* Fill gfs_isal_others of these inputs. Until then its bits are 0. */
static void find_others(const gfs_isa *isa, size_t inputs) {
  uint64_t others[GFS_ISAL_OTHERS];
  memset(others, 0xff, sizeof others);
  remove_bit(isa, others, 1);
  for (size_t outputs = 1; outputs <= GFS_ISAL_FEW_OUTPUTS; outputs++) {
    for (size_t n = GFS_MATRICES; n-- > 0;) /* a build may have no known matrix */
      if (gfs_baked_matrices[n].inputs == inputs && gfs_baked_matrices[n].outputs == outputs)
        remove_bit(isa, others, gfs_baked_matrices[n].elements[0]);
    for (size_t n = 0; n < GFS_ISAL_OTHERS; n++)
      atomic_store_explicit(&gfs_isal_others[inputs][outputs][n], others[n], memory_order_relaxed);
  }
}

static uint32_t find_range(size_t inputs) {
  uint32_t begin = GFS_MATRICES, end = GFS_MATRICES;
  for (uint32_t n = GFS_MATRICES; n-- > 0;)
    if (gfs_baked_matrices[n].inputs == inputs) {
      begin = n;
      end = end == GFS_MATRICES ? n + 1 : end;
    }
  uint32_t range = begin | (end + 1) << 16;
  atomic_store_explicit(&ranges[inputs], range, memory_order_relaxed);
  return range;
}

const gfs_known_matrix *gfs_isal_known(const gfs_isa *isa, const uint8_t *entries, size_t inputs,
                                       size_t left) {
  if (inputs > GFSMITH_MAX_SHARDS)
    return NULL;
  uint32_t range = atomic_load_explicit(&ranges[inputs], memory_order_relaxed);
  if (range == 0) {
    range = find_range(inputs);
    if (inputs <= GFS_ISAL_FEW_INPUTS)
      find_others(isa, inputs);
  }
  const gfs_known_matrix *found = NULL;
  const gfs_known_matrix *end = gfs_baked_matrices + (range >> 16) - 1;
  for (const gfs_known_matrix *m = gfs_baked_matrices + (range & 0xffff); m < end; m++)
    if (m->inputs == inputs && m->outputs <= left && m->polynomial == GFSMITH_POLYNOMIAL &&
        (found == NULL || m->outputs > found->outputs) &&
        are(entries, m->elements, (size_t)m->outputs * inputs) &&
        gfs_isal_known_kernel(isa, m, GFS_PATH_cached) != NULL)
      found = m;
  return found;
}
