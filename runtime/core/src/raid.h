/* raid.h: common code of the calls of gfsmith_raid.h: kernels for any number of sources, one
 * pass. */
#ifndef GFS_RAID_H
#define GFS_RAID_H

#include <stdatomic.h>

#include "dispatch.h"
#include "gfsmith_raid.h"

#define GFS_RAID_PARITIES 3u

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

/* The calls in cache on every CPU with a number of data shards and of parities: one comparison of
 * the length finds their kernel, because a call on short shards takes little longer than the
 * instructions before the kernel. It needs no tables. All threads write the same values for an
 * instruction set; after a change of the set, each kernel computes the same parities. */
typedef struct gfs_raid_short {
  _Atomic(size_t) most; /* the greatest length; 0: no call has looked up the kernel yet */
  _Atomic(const gfs_isa *) isa;
  _Atomic(gfsmith_kernel *) kernel;
} gfs_raid_short;

extern gfs_raid_short gfs_raid_shorts[GFS_RAID_PARITIES][GFSMITH_RAID_MAX_DATA + 1];

/* Is a call of this length in cache, and has an earlier call found its kernel? */
static inline bool gfs_raid_is_short(const gfs_raid_short *calls, size_t len) {
  return gfs_length_within(len, atomic_load_explicit(&calls->most, memory_order_acquire));
}

#endif
