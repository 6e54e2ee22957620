/* raid.h: common code of the calls of gfsmith_raid.h: kernels for any number of sources, one
 * pass. */
#ifndef GFS_RAID_H
#define GFS_RAID_H

#include "dispatch.h"
#include "gfsmith_raid.h"

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
static inline bool gfs_raid_count_valid(unsigned k) { return k >= 1 && k <= GFSMITH_RAID_MAX_DATA; }

#endif
