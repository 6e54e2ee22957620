/* raid.h: common code of the calls of gfsmith_raid.h: kernels for any number of sources, one
 * pass. */
#ifndef GFS_RAID_H
#define GFS_RAID_H

#include "dispatch.h"
#include "gfsmith_raid.h"
#include "raid_short.h"

#define GFS_RAID_PARITIES 3u

/* A kernel of the current instruction set for any number of inputs; NULL if the build has none.
 * Results are cached, so that a short call does not search all kernels. outputs: 1 to 3. */
gfsmith_kernel *gfs_raid_kernel(const gfs_isa *isa, gfs_operation operation, unsigned outputs,
                                gfs_path path);

/* One pass over the shards of a call. */
typedef struct gfs_raid_pass {
  gfsmith_kernel *kernel;
  const uint8_t *tables; /* of its coefficients; NULL if the kernel needs none */
  unsigned inputs;
  unsigned outputs;
  bool reversed; /* the sources are the data shards in reverse order */
} gfs_raid_pass;

/* The pass that computes the first m parities of k shards of len bytes. GFSMITH_EUNSUPPORTED: no
 * kernel. */
gfsmith_status gfs_raid_generator(gfs_raid_pass *pass, unsigned k, unsigned m, size_t len,
                                  gfs_path path);

/* Write the sources of a pass: the data shards from byte `offset` on, in the order of its kernel.
 * Horner's rule begins with the highest power. */
void gfs_raid_sources(const gfs_raid_pass *pass, size_t offset, const uint8_t *const *shards,
                      const uint8_t **src);

/* Run a pass: at once if the shards are in cache, else in steps like a codec. */
void gfs_raid_run(const gfs_raid_pass *pass, gfs_path path, size_t len, const uint8_t *const *src,
                  uint8_t *const *dst);

/* Is k a valid number of data shards? */
static inline bool gfs_raid_count_valid(unsigned k) { return k - 1 < GFSMITH_RAID_MAX_DATA; }

/* The most data shards for which P and Q are computed by a kernel for their known matrix, if there
 * is one. Measured on Zen 4 (docs/raid.md): 1.1 to 1.7 times as fast as Horner's rule at 4; from 8
 * on as fast with GFNI and slower without. */
enum { GFS_RAID_KNOWN_MAX = 7 };

/* Caches of kernels, NULL until a call needs them: by operation (dot, xor or horner) and outputs;
 * for the known matrix of P and Q by the number of data shards; for a dense product of short
 * shards, up to GFS_RAID_SHORT_BYTES and longer ones. gfs_raid_none in the last two: there is none.
 * All threads write the same values, which depend on the build and the CPU only. The instruction
 * set is the last index, so that its multiplication is part of an address. */
extern _Atomic(gfsmith_kernel *) gfs_raid_found[GFS_OPERATION_horner + 1][GFS_RAID_PARITIES]
                                               [GFS_PATHS][GFS_ISAS];
extern _Atomic(gfsmith_kernel *) gfs_raid_known[GFS_PATHS][GFS_RAID_KNOWN_MAX + 1][GFS_ISAS];
extern _Atomic(gfsmith_kernel *) gfs_raid_dense[2][GFS_ISAS];
gfsmith_kernel gfs_raid_none;

/* The pass of a call in cache on every CPU whose kernel an earlier call has found; without a kernel
 * if it is another call. Only `kernel`, `tables` and `reversed` are set. Inline and with few
 * instructions, because a call on short shards takes little longer than these. */
static inline gfs_raid_pass gfs_raid_met(unsigned k, unsigned m, size_t len) {
  gfs_raid_pass pass = {.kernel = NULL};
  const gfs_isa *isa = gfs_dispatch_known_isa();
  if (isa == NULL || !gfs_raid_count_valid(k) || !gfs_length_within(len, GFS_OWN_CACHE_LEAST) ||
      len * (k + m) > GFS_OWN_CACHE_LEAST)
    return pass;
  if (m == 2 && k <= GFS_RAID_KNOWN_MAX) {
    pass.kernel =
        atomic_load_explicit(&gfs_raid_known[GFS_PATH_cached][k][isa->id], memory_order_relaxed);
    if (pass.kernel != gfs_raid_none)
      return pass;
  }
  if (m == 2 && len <= GFS_RAID_SHORT_WIDE && k <= GFS_RAID_SHORT_DATA) {
    pass.kernel = atomic_load_explicit(&gfs_raid_dense[len > GFS_RAID_SHORT_BYTES][isa->id],
                                       memory_order_acquire);
    pass.tables = (const uint8_t *)gfs_raid_short_entries;
    if (pass.kernel != gfs_raid_none)
      return pass;
  }
  gfs_operation operation = m == 1 ? GFS_OPERATION_xor : GFS_OPERATION_horner;
  pass.kernel = atomic_load_explicit(&gfs_raid_found[operation][m - 1][GFS_PATH_cached][isa->id],
                                     memory_order_relaxed);
  pass.tables = NULL;
  pass.reversed = m > 1;
  return pass;
}

#endif
