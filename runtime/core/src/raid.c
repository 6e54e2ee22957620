#include "raid.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <string.h>

#include "baked.h"
#include "codec.h"
#include "cpu.h"
#include "inlining.h"
#include "map.h"
#include "sizes.h"

_Atomic(gfsmith_kernel *) gfs_raid_found[GFS_OPERATION_horner + 1][GFS_RAID_PARITIES][GFS_PATHS]
                                        [GFS_ISAS];
_Atomic(gfsmith_kernel *) gfs_raid_known[GFS_PATHS][GFS_RAID_KNOWN_MAX + 1][GFS_ISAS];
_Atomic(gfsmith_kernel *) gfs_raid_dense[2][GFS_ISAS];

gfsmith_kernel *gfs_raid_kernel(const gfs_isa *isa, gfs_operation operation, unsigned outputs,
                                gfs_path path) {
  _Atomic(gfsmith_kernel *) *place = &gfs_raid_found[operation][outputs - 1][path][isa->id];
  gfsmith_kernel *kernel = atomic_load_explicit(place, memory_order_relaxed);
  if (kernel == NULL) {
    kernel = gfs_dispatch_kernel(isa, operation, 0, outputs, path);
    atomic_store_explicit(place, kernel, memory_order_relaxed);
  }
  return kernel;
}

void gfs_raid_none(size_t len, size_t k, const uint8_t *coeffs, const uint8_t *const *src,
                   uint8_t *const *dst) {
  (void)len, (void)k, (void)coeffs, (void)src, (void)dst;
}

static gfsmith_kernel *find_known(const gfs_isa *isa, unsigned k, gfs_path path) {
  uint8_t rows[2 * GFS_RAID_KNOWN_MAX];
  for (unsigned j = 0; j < k; j++) {
    rows[j] = 1;
    rows[k + j] = (uint8_t)(1u << j); /* 2^j: no reduction below 2^8 */
  }
  gfs_field field = {.polynomial = GFSMITH_POLYNOMIAL};
  const gfs_known_matrix *matrix = gfs_baked_find(isa, &field, k, 2, rows);
  bool whole = matrix != NULL && matrix->outputs == 2;
  gfsmith_kernel *kernel = whole ? gfs_baked_kernel(isa, matrix, path) : NULL;
  return kernel != NULL ? kernel : gfs_raid_none;
}

/* The kernel with the matrix of P and Q for k shards; NULL if there is none. */
static gfsmith_kernel *known_kernel(const gfs_isa *isa, unsigned k, gfs_path path) {
  if (k > GFS_RAID_KNOWN_MAX)
    return NULL;
  _Atomic(gfsmith_kernel *) *place = &gfs_raid_known[path][k][isa->id];
  gfsmith_kernel *kernel = atomic_load_explicit(place, memory_order_relaxed);
  if (kernel == NULL) {
    kernel = find_known(isa, k, path);
    atomic_store_explicit(place, kernel, memory_order_relaxed);
  }
  return kernel != gfs_raid_none ? kernel : NULL;
}

static gfsmith_kernel *find_dense(const gfs_isa *isa, bool longer) {
  bool wide = (isa->features & GFSMITH_CPU_AVX512F) != 0;
  if (isa->format != GFS_FORMAT_affine || (longer && !wide))
    return gfs_raid_none;
  gfsmith_kernel *kernel = gfs_raid_kernel(isa, GFS_OPERATION_dot, 2, GFS_PATH_cached);
  return kernel != NULL ? kernel : gfs_raid_none;
}

/* The kernel with a dense matrix for P and Q of short shards in cache; NULL if there is none. */
static gfsmith_kernel *dense_kernel(const gfs_isa *isa, unsigned k, size_t len) {
  if (len > GFS_RAID_SHORT_WIDE || k > GFS_RAID_SHORT_DATA)
    return NULL;
  bool longer = len > GFS_RAID_SHORT_BYTES;
  _Atomic(gfsmith_kernel *) *place = &gfs_raid_dense[longer][isa->id];
  gfsmith_kernel *kernel = atomic_load_explicit(place, memory_order_acquire);
  if (kernel == NULL) {
    kernel = find_dense(isa, longer);
    gfs_raid_short_fill();
    atomic_store_explicit(place, kernel, memory_order_release);
  }
  return kernel != gfs_raid_none ? kernel : NULL;
}

gfsmith_status gfs_raid_generator(gfs_raid_pass *pass, unsigned k, unsigned m, size_t len,
                                  gfs_path path) {
  const gfs_isa *isa = gfs_dispatch_isa();
  if (isa == NULL)
    return GFSMITH_EUNSUPPORTED;
  *pass = (gfs_raid_pass){.inputs = k, .outputs = m};
  if (m == 2)
    pass->kernel = known_kernel(isa, k, path);
  if (pass->kernel == NULL && m == 2 && path == GFS_PATH_cached) {
    pass->kernel = dense_kernel(isa, k, len);
    pass->tables = (const uint8_t *)gfs_raid_short_entries;
  }
  if (pass->kernel == NULL) {
    pass->kernel = gfs_raid_kernel(isa, m == 1 ? GFS_OPERATION_xor : GFS_OPERATION_horner, m, path);
    pass->tables = NULL;
    pass->reversed = m > 1;
  }
  return pass->kernel != NULL ? GFSMITH_OK : GFSMITH_EUNSUPPORTED;
}

void gfs_raid_run(const gfs_raid_pass *pass, gfs_path path, size_t len, const uint8_t *const *src,
                  uint8_t *const *dst) {
  if (path == GFS_PATH_cached) {
    pass->kernel(len, pass->inputs, pass->tables, src, dst);
    return;
  }
  union { /* a map with a single pass */
    gfs_map map;
    unsigned char bytes[sizeof(gfs_map) + sizeof(gfs_pass)];
  } one = {.map = {.inputs = pass->inputs, .outputs = pass->outputs, .dots = 1}};
  one.map.pass[0] = (gfs_pass){.tables = pass->tables, .outputs = pass->outputs};
  one.map.pass[0].kernel[path] = pass->kernel;
  gfs_map_apply_pieces(&one.map, path, len, src, dst);
}

void gfs_raid_sources(const gfs_raid_pass *pass, size_t offset, const uint8_t *const *shards,
                      const uint8_t **src) {
  unsigned last = pass->inputs - 1;
  for (unsigned j = 0; j <= last; j++)
    src[j] = shards[pass->reversed ? last - j : j] + offset;
}

static GFS_NOT_INLINED gfsmith_status generate_any(unsigned k, unsigned m, size_t len,
                                                   uint8_t *const *shards) {
  if (!gfs_raid_count_valid(k))
    return GFSMITH_EINVAL;
  if (len == 0)
    return GFSMITH_OK;
  const uint8_t *const *data = (const uint8_t *const *)shards;
  if (!gfs_all_given(data, k + m))
    return GFSMITH_EINVAL;
  gfs_path path = gfs_path_of(GFSMITH_HINT_AUTO, k + m, len);
  path = gfs_path_probed(path, k + m, len, data, k);
  gfs_raid_pass pass;
  gfsmith_status status = gfs_raid_generator(&pass, k, m, len, path);
  if (status != GFSMITH_OK)
    return status;
  const uint8_t *src[GFSMITH_RAID_MAX_DATA];
  gfs_raid_sources(&pass, 0, data, src);
  gfs_raid_run(&pass, path, len, src, shards + k);
  return GFSMITH_OK;
}

/* Write four pointers in reverse order, the first of them to to[3]. */
static inline void reverse_four(const uint8_t *const *from, const uint8_t **to) {
  for (unsigned n = 0; n < 4; n++)
    to[3 - n] = from[n];
}

/* Write the pointers in reverse order. If their number is no multiple of four, some are written
 * twice, which takes fewer branches. */
static inline void reverse(unsigned count, const uint8_t *const *from, const uint8_t **to) {
  if (count < 4) {
    for (unsigned n = 0; n < count; n++)
      to[count - 1 - n] = from[n];
    return;
  }
  for (unsigned n = 0; n < count - 4; n += 4)
    reverse_four(from + n, to + (count - 4 - n));
  reverse_four(from + (count - 4), to);
}

/* A call of a kernel in cache that takes the data shards in reverse order. */
static GFS_NOT_INLINED gfsmith_status run_reversed(unsigned k, gfsmith_kernel *kernel, size_t len,
                                                   uint8_t *const *shards) {
  const uint8_t *src[GFSMITH_RAID_MAX_DATA];
  reverse(k, (const uint8_t *const *)shards, src);
  kernel(len, k, NULL, src, shards + k);
  return GFSMITH_OK;
}

static GFS_INLINED gfsmith_status generate(unsigned k, unsigned m, size_t len,
                                           uint8_t *const *shards) {
  gfs_raid_pass pass = gfs_raid_met(k, m, len);
  if (pass.kernel == NULL || !gfs_clearly_given((const uint8_t *const *)shards, k + m))
    return generate_any(k, m, len, shards);
  if (pass.reversed)
    return run_reversed(k, pass.kernel, len, shards);
  pass.kernel(len, k, pass.tables, (const uint8_t *const *)shards, shards + k);
  return GFSMITH_OK;
}

/* Do the parities match on the part at `offset`? len <= GFS_CHECK_BYTES / pass->outputs. */
static bool parities_match(const gfs_raid_pass *pass, size_t len, const uint8_t *const *shards,
                           size_t offset) {
  alignas(GFS_CACHE_LINE) uint8_t computed[GFS_CHECK_BYTES];
  const uint8_t *src[GFSMITH_RAID_MAX_DATA];
  uint8_t *dst[GFS_RAID_PARITIES];
  gfs_raid_sources(pass, offset, shards, src);
  for (unsigned i = 0; i < pass->outputs; i++)
    dst[i] = computed + i * len;
  pass->kernel(len, pass->inputs, pass->tables, src, dst);
  for (unsigned i = 0; i < pass->outputs; i++)
    if (memcmp(dst[i], shards[pass->inputs + i] + offset, len) != 0)
      return false;
  return true;
}

static gfsmith_status check(unsigned k, unsigned m, size_t len, const uint8_t *const *shards,
                            bool *ok) {
  if (!gfs_raid_count_valid(k) || (len > 0 && (ok == NULL || !gfs_all_given(shards, k + m))))
    return GFSMITH_EINVAL;
  gfs_path path = gfs_path_of_check(GFSMITH_HINT_AUTO, k + m, len);
  gfs_raid_pass pass;
  gfsmith_status status = gfs_raid_generator(&pass, k, m, len, path);
  if (len > 0 && status != GFSMITH_OK)
    return status;
  bool match = true;
  size_t chunk = GFS_CHECK_BYTES / m / GFS_CACHE_LINE * GFS_CACHE_LINE;
  for (size_t done = 0; match && done < len;) {
    size_t part = gfs_least(len - done, chunk);
    match = parities_match(&pass, part, shards, done);
    done += part;
  }
  if (ok != NULL)
    *ok = match;
  return GFSMITH_OK;
}

gfsmith_status gfsmith_xor_gen(unsigned k, size_t len, uint8_t *const *shards) {
  return generate(k, 1, len, shards);
}

gfsmith_status gfsmith_pq_gen(unsigned k, size_t len, uint8_t *const *shards) {
  return generate(k, 2, len, shards);
}

gfsmith_status gfsmith_pqr_gen(unsigned k, size_t len, uint8_t *const *shards) {
  return generate(k, 3, len, shards);
}

gfsmith_status gfsmith_xor_check(unsigned k, size_t len, const uint8_t *const *shards, bool *ok) {
  return check(k, 1, len, shards, ok);
}

gfsmith_status gfsmith_pq_check(unsigned k, size_t len, const uint8_t *const *shards, bool *ok) {
  return check(k, 2, len, shards, ok);
}

gfsmith_status gfsmith_pqr_check(unsigned k, size_t len, const uint8_t *const *shards, bool *ok) {
  return check(k, 3, len, shards, ok);
}
