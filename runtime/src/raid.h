/* raid.h: what the calls of gfsmith_raid.h share: kernels for any number of sources, one pass. */
#ifndef GFS_RAID_H
#define GFS_RAID_H

#include "dispatch.h"
#include "gfsmith_raid.h"

#define GFS_RAID_PARITIES 3u

/* A kernel of the set in force for any number of inputs; NULL if the build has none. What it finds
 * it remembers, so that a short call does not search all kernels. outputs: 1 to 3. */
gfsmith_kernel *gfs_raid_kernel(const gfs_isa *isa, gfs_operation operation, unsigned outputs,
                                gfs_path path);

/* One pass over the shards of a call. */
typedef struct gfs_raid_pass {
  gfsmith_kernel *kernel;
  const uint8_t *tables; /* of its coefficients, NULL if it takes none */
  unsigned inputs;
  unsigned outputs;
  bool reversed; /* its sources are the data shards, last one first */
} gfs_raid_pass;

/* The pass that computes the first m parities of k shards. GFSMITH_EUNSUPPORTED: no kernel. */
gfsmith_status gfs_raid_generator(gfs_raid_pass *pass, unsigned k, unsigned m, gfs_path path);

/* Its sources: the data shards from byte `offset` on, in the order that its kernel wants. Horner's
 * rule begins with the highest power. */
void gfs_raid_sources(const gfs_raid_pass *pass, size_t offset, const uint8_t *const *shards,
                      const uint8_t **src);

/* Run it, in cache whole, else in steps as a codec does. */
void gfs_raid_run(const gfs_raid_pass *pass, gfs_path path, size_t len, const uint8_t *const *src,
                  uint8_t *const *dst);

/* Is k a number of data shards? */
static inline bool gfs_raid_count_valid(unsigned k) { return k >= 1 && k <= GFSMITH_RAID_MAX_DATA; }

#endif
