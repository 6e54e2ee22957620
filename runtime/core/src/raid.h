/* raid.h: common code of the calls of gfsmith_raid.h: kernels for any number of sources, one
 * pass. */
#ifndef GFS_RAID_H
#define GFS_RAID_H

#include <stdatomic.h>

#include "codec.h"
#include "dispatch.h"
#include "gfsmith_raid.h"
#include "inlining.h"

#define GFS_RAID_PARITIES ((unsigned)GFS_SUMS_PARITIES)

_Static_assert(GFS_SUMS_DATA == GFSMITH_RAID_MAX_DATA, "arrays of short calls of all counts");

/* The kernel with tables for any number of inputs; NULL if the build has none. Results are cached,
 * so that a short call does not search all kernels. outputs: 1 to 3. */
gfsmith_kernel *gfs_raid_dot(const gfs_isa *isa, unsigned outputs, gfs_path path);

/* One pass over the shards of a call. */
typedef struct gfs_raid_pass {
  gfsmith_kernel *kernel;
  const uint8_t *tables; /* of its coefficients; NULL if the kernel needs none */
  unsigned inputs;
  unsigned outputs;
} gfs_raid_pass;

/* The pass that computes the first m parities of k shards. GFSMITH_EUNSUPPORTED: no kernel. */
gfsmith_status gfs_raid_generator(gfs_raid_pass *pass, unsigned k, unsigned m, gfs_path path);

/* Run a pass: at once if the shards are in cache, else in steps like a codec. */
void gfs_raid_run(const gfs_raid_pass *pass, gfs_path path, size_t len, const uint8_t *const *src,
                  uint8_t *const *dst);

/* Is k a valid number of data shards? */
static inline bool gfs_raid_count_valid(unsigned k) { return k - 1 < GFSMITH_RAID_MAX_DATA; }

/* The most data shards for which a kernel for exactly this number is used, if there is one: for P
 * and Q that of their known matrix. Measured on Zen 4 (docs/raid.md): 1.1 to 1.7 times as fast as
 * Horner's rule at 4; from 8 on as fast with GFNI and slower without. */
enum { GFS_RAID_FEW = 7 };

/* The index of a number of data shards in the arrays of kernels; 0: more than GFS_RAID_FEW. */
static inline unsigned gfs_raid_few(unsigned k) { return k <= GFS_RAID_FEW ? k : 0; }

/* Is a call of this length in cache, and has an earlier call found its kernel? */
static inline bool gfs_raid_is_short(const gfs_short_sums *sums, unsigned k, size_t len) {
  return gfs_length_within(len, atomic_load_explicit(&sums->most[k], memory_order_acquire));
}

/* The kernel of such a call. */
static inline gfsmith_kernel *gfs_raid_kernel(const gfs_short_sums *sums, unsigned k) {
  return atomic_load_explicit(&sums->kernel[k], memory_order_relaxed);
}

#endif
