#include "raid.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <string.h>

#include "baked.h"
#include "check_steps.h"
#include "codec.h"
#include "cpu.h"
#include "ending.h"
#include "inlining.h"
#include "map.h"
#include "sizes.h"

/* The kernels that compute parities, NULL until a call needs them: by the number of parities, and
 * gfs_raid_few. All threads write the same values, which depend on the build and the CPU only. */
static _Atomic(gfsmith_kernel *) generators[GFS_RAID_PARITIES][GFS_RAID_FEW + 1][GFS_PATHS]
                                           [GFS_ISAS];

static _Atomic(gfsmith_kernel *) dots[GFS_RAID_PARITIES][GFS_PATHS][GFS_ISAS];

gfsmith_kernel *gfs_raid_dot(const gfs_isa *isa, unsigned outputs, gfs_path path) {
  _Atomic(gfsmith_kernel *) *place = &dots[outputs - 1][path][isa->id];
  gfsmith_kernel *kernel = atomic_load_explicit(place, memory_order_relaxed);
  if (kernel == NULL) {
    kernel = gfs_dispatch_kernel(isa, GFS_OPERATION_dot, 0, outputs, path);
    atomic_store_explicit(place, kernel, memory_order_relaxed);
  }
  return kernel;
}

/* The kernel with the matrix of P and Q for k shards; NULL if there is none, or if a kernel for any
 * number of shards suits the path better because it stores around the cache. */
static gfsmith_kernel *find_known(const gfs_isa *isa, unsigned k, gfs_path path) {
  uint8_t rows[2 * GFS_RAID_FEW];
  if (k > GFS_RAID_FEW)
    return NULL;
  for (unsigned j = 0; j < k; j++) {
    rows[j] = 1;
    rows[k + j] = (uint8_t)(1u << j); /* 2^j: no reduction below 2^8 */
  }
  gfs_field field = {.polynomial = GFSMITH_POLYNOMIAL};
  const gfs_known_matrix *matrix = gfs_baked_find(isa, &field, k, 2, rows);
  if (matrix == NULL || matrix->outputs != 2)
    return NULL;
  gfsmith_kernel *kernel = gfs_baked_kernel(isa, matrix, path);
  bool suits = path < GFS_PATH_distant || gfs_baked_traits(kernel).store == GFS_STORE_streaming;
  return suits ? kernel : NULL;
}

static gfsmith_kernel *find_generator(const gfs_isa *isa, unsigned k, unsigned m, gfs_path path) {
  gfsmith_kernel *known = m == 2 ? find_known(isa, k, path) : NULL;
  if (known != NULL)
    return known;
  gfs_operation operation = m == 1 ? GFS_OPERATION_xor : GFS_OPERATION_horner;
  return gfs_dispatch_kernel(isa, operation, gfs_raid_few(k), m, path);
}

/* The most bytes of data for which the kernel of GFS_PATH_cached is faster than one for `second`
 * that stores around the cache. Measured on Zen 5: 12 to 14 shards of 4 KiB 1.5 to 1.07 times, 15
 * as fast. */
static size_t most_near(void) { return gfs_limits_here()->first_cache / 4 * 5; }

/* Let the short calls like this one find the kernel. All threads write the same values for an
 * instruction set. If it changes at the same time, either this thread or the other one sets the
 * length to 0 again; until then, the kernel of another set computes the same parities. */
static void enter_short(const gfs_isa *isa, unsigned k, unsigned m) {
  gfs_short_sums *sums = &gfs_dispatch_sums[m - 1];
  if (!gfs_may_end_calls(isa) || atomic_load_explicit(&sums->most[k], memory_order_relaxed) != 0)
    return;
  gfsmith_kernel *kernel = find_generator(isa, k, m, GFS_PATH_cached);
  atomic_store_explicit(&sums->kernel[k], kernel, memory_order_relaxed);
  bool alike = find_generator(isa, k, m, GFS_PATH_second) == kernel;
  atomic_store(&sums->most[k], alike ? GFS_OWN_CACHE_LEAST / (k + m) : most_near() / k);
  if (gfs_dispatch_isa() != isa)
    atomic_store(&sums->most[k], 0);
}

gfsmith_status gfs_raid_generator(gfs_raid_pass *pass, unsigned k, unsigned m, gfs_path path) {
  const gfs_isa *isa = gfs_dispatch_isa();
  if (isa == NULL)
    return GFSMITH_EUNSUPPORTED;
  _Atomic(gfsmith_kernel *) *place = &generators[m - 1][gfs_raid_few(k)][path][isa->id];
  gfsmith_kernel *kernel = atomic_load_explicit(place, memory_order_relaxed);
  if (kernel == NULL) {
    kernel = find_generator(isa, k, m, path);
    atomic_store_explicit(place, kernel, memory_order_relaxed);
  }
  if (kernel == NULL)
    return GFSMITH_EUNSUPPORTED;
  if (gfs_path_is_cached(path))
    enter_short(isa, k, m);
  *pass = (gfs_raid_pass){.kernel = kernel, .inputs = k, .outputs = m};
  return GFSMITH_OK;
}

void gfs_raid_run(const gfs_raid_pass *pass, gfs_path path, size_t len, const uint8_t *const *src,
                  uint8_t *const *dst) {
  if (gfs_path_is_cached(path)) {
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
  if (path == GFS_PATH_second && gfs_fit(k, len, most_near()))
    path = GFS_PATH_cached;
  gfs_raid_pass pass;
  gfsmith_status status = gfs_raid_generator(&pass, k, m, path);
  if (status == GFSMITH_OK)
    gfs_raid_run(&pass, path, len, data, shards + k);
  return status;
}

static GFS_NOT_INLINED gfsmith_status generate_lots(unsigned k, unsigned m, size_t len,
                                                    uint8_t *const *shards) {
  const gfs_short_sums *sums = &gfs_dispatch_sums[m - 1];
  const uint8_t *const *data = (const uint8_t *const *)shards;
  if (GFS_UNLIKELY(k > GFSMITH_RAID_MAX_DATA || !gfs_raid_is_short(sums, k, len) ||
                   !gfs_clearly_given(data, k + m)))
    return generate_any(k, m, len, shards);
  return gfs_end_with(gfs_raid_kernel(sums, k), len, k, NULL, data, shards + k);
}

/* The bits that are 1 in a group of three or four pointers. */
static GFS_INLINED uintptr_t common_of_group(const uint8_t *const *pointers, unsigned group) {
  uintptr_t three = (uintptr_t)pointers[0] & (uintptr_t)pointers[1] & (uintptr_t)pointers[2];
  return group == 3 ? three : three & (uintptr_t)pointers[3];
}

/* gfs_common_bits of `half` to 2 * half pointers, half being one or two groups. */
static GFS_INLINED uintptr_t common_of_few(const uint8_t *const *pointers, size_t count,
                                           unsigned half, unsigned group) {
  const uint8_t *const *last = pointers + count - half;
  uintptr_t common = common_of_group(pointers, group) & common_of_group(last, group);
  if (half > group)
    common &= common_of_group(pointers + group, group) & common_of_group(last + group, group);
  return common;
}

/* The group of pointers of calls with m parities: of the fewest data shards, two, and m parities
 * there are one to two groups. */
static GFS_INLINED unsigned pointer_group(unsigned m) { return m == 1 ? 3 : 4; }

/* Generate m parities of k shards, where k + m is between `half` and its double and m and half are
 * constants. No branch for each pointer and no saved register, because the kernel takes little
 * longer than the instructions before it. */
static GFS_INLINED gfsmith_status generate_few(unsigned k, unsigned m, size_t len,
                                               uint8_t *const *shards, unsigned half) {
  const gfs_short_sums *sums = &gfs_dispatch_sums[m - 1];
  const uint8_t *const *data = (const uint8_t *const *)shards;
  if (GFS_UNLIKELY(!gfs_raid_is_short(sums, k, len)) || GFS_UNLIKELY(shards == NULL) ||
      GFS_UNLIKELY(common_of_few(data, k + m, half, pointer_group(m)) == 0))
    return generate_any(k, m, len, shards);
  return gfs_end_with(gfs_raid_kernel(sums, k), len, k, NULL, data, shards + k);
}

/* Generate m parities, a constant, of other than the fewest shards. */
static GFS_INLINED gfsmith_status generate_many(unsigned k, unsigned m, size_t len,
                                                uint8_t *const *shards) {
  const unsigned half = 2 * pointer_group(m);
  if (k - (half - m) <= half)
    return generate_few(k, m, len, shards, half);
  return generate_lots(k, m, len, shards);
}
static GFS_NOT_INLINED gfsmith_status xor_many(unsigned k, size_t len, uint8_t *const *shards) {
  return generate_many(k, 1, len, shards);
}
static GFS_NOT_INLINED gfsmith_status pq_many(unsigned k, size_t len, uint8_t *const *shards) {
  return generate_many(k, 2, len, shards);
}
static GFS_NOT_INLINED gfsmith_status pqr_many(unsigned k, size_t len, uint8_t *const *shards) {
  return generate_many(k, 3, len, shards);
}

/* Generate m parities, a constant; `many` does so for all but the fewest shards. */
static GFS_INLINED gfsmith_status generate(unsigned k, unsigned m, size_t len,
                                           uint8_t *const *shards,
                                           gfsmith_status (*many)(unsigned, size_t,
                                                                  uint8_t *const *)) {
  if (GFS_UNLIKELY(k - 2 > 2 * pointer_group(m) - m - 2))
    return many(k, len, shards);
  return generate_few(k, m, len, shards, pointer_group(m));
}

/* Do the parities match on the part at `offset`? len <= GFS_CHECK_BYTES / pass->outputs. */
static bool parities_match(const gfs_raid_pass *pass, size_t len, const uint8_t *const *shards,
                           size_t offset) {
  alignas(GFS_CACHE_LINE) uint8_t computed[GFS_CHECK_BYTES];
  const uint8_t *src[GFSMITH_RAID_MAX_DATA];
  uint8_t *dst[GFS_RAID_PARITIES];
  for (unsigned j = 0; j < pass->inputs; j++)
    src[j] = shards[j] + offset;
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
  unsigned count = k + m;
  gfs_path path = gfs_path_of_check(GFSMITH_HINT_AUTO, count, len);
  path = gfs_path_probed(path, count, len, shards, k);
  gfs_raid_pass pass;
  gfsmith_status status = gfs_raid_generator(&pass, k, m, path);
  if (len > 0 && status != GFSMITH_OK)
    return status;
  bool match = true;
  const gfs_check_steps steps = gfs_check_steps_of(
      path, shards, count, len, GFS_CHECK_BYTES / m / GFS_CACHE_LINE * GFS_CACHE_LINE);
  for (size_t done = 0; match && done < len;) {
    size_t part = gfs_check_next(&steps, done);
    match = parities_match(&pass, part, shards, done);
    done += part;
  }
  if (ok != NULL)
    *ok = match;
  return GFSMITH_OK;
}

GFS_SHORT_CALL gfsmith_status gfsmith_xor_gen(unsigned k, size_t len, uint8_t *const *shards) {
  return generate(k, 1, len, shards, xor_many);
}

GFS_SHORT_CALL gfsmith_status gfsmith_pq_gen(unsigned k, size_t len, uint8_t *const *shards) {
  return generate(k, 2, len, shards, pq_many);
}

GFS_SHORT_CALL gfsmith_status gfsmith_pqr_gen(unsigned k, size_t len, uint8_t *const *shards) {
  return generate(k, 3, len, shards, pqr_many);
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
