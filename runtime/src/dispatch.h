/* dispatch.h: the instruction sets and kernels this build has, and the choice among them. */
#ifndef GFS_DISPATCH_H
#define GFS_DISPATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gfsmith.h"
#include "gfsmith_kernels.h"
#include "tables.h"

/* The instruction sets of the build, best first. */
typedef enum gfs_isa_id {
#define GFSMITH_ISA(name, format, features) GFS_ISA_##name,
#include "isas.inc"
#undef GFSMITH_ISA
  GFS_ISAS /* how many */
} gfs_isa_id;

typedef struct gfs_isa {
  const char *name;
  gfs_isa_id id;
  gfs_format format; /* of its kernels' coefficients */
  uint32_t features; /* GFSMITH_CPU_*, all needed */
} gfs_isa;

typedef enum gfs_operation {
  GFS_OPERATION_dot,   /* dst[i]  = sum over j of c[i][j] * src[j] */
  GFS_OPERATION_mad,   /* dst[i] += sum over j of c[i][j] * src[j] */
  GFS_OPERATION_mul,   /* dst[j]  = c[j] * src[j] */
  GFS_OPERATION_xor,   /* dst[0]  = sum over j of src[j] */
  GFS_OPERATION_horner /* dst[i] = sum over j < k of (2^i)^(k-1-j) * src[j], modulo 0x11d */
} gfs_operation;

/* How a kernel stores, by its name in kernels.inc. */
typedef enum gfs_store { GFS_STORE_temporal, GFS_STORE_streaming } gfs_store;

/* Where the shards of a call are, as far as that changes which kernel is best. */
typedef enum gfs_path {
  GFS_PATH_cached,  /* in cache: no prefetch, ordinary stores */
  GFS_PATH_nearby,  /* in memory, but too short for the next: prefetch, ordinary stores */
  GFS_PATH_distant, /* in memory: prefetch, and stores that go around the cache */
  GFS_PATH_bulk,    /* the same with long shards, where other kernels may be tuned to be best */
  GFS_PATHS         /* how many */
} gfs_path;

/* The instruction set in force: chosen on first use, changed by gfsmith_set_isa. NULL if this build
 * has none that this CPU supports. */
const gfs_isa *gfs_dispatch_isa(void);

/* Up to so many bytes, a call's shards are taken to be in a core's own cache: half of what the
 * smallest second-level cache of today's servers holds (1 MiB, Zen 4). */
#define GFS_OWN_CACHE_BYTES ((size_t)512 << 10)

/* From this length of a shard on, stores around the cache pay: shorter shards begin and end so
 * often that the incomplete lines and the fence cost more than reading the lines first. */
#define GFS_STREAM_MIN 1024u

/* From this length of a shard on, what a shard's beginning costs is small against the rest. On Zen
 * 4 a prefetch inside the kernel, besides that of whole steps, gains 8 to 25 % at 10+4 and 12+4
 * with tables at 1 and 4 KiB, 0 to 5 % at 16 KiB, and nothing beyond (docs/tuning.md). */
#define GFS_BULK_MIN ((size_t)16 << 10)

/* The path of a call on so many shards of len bytes, inputs and outputs together. */
static inline gfs_path gfs_dispatch_path(gfsmith_hint hint, unsigned shards, size_t len) {
  bool fits = len <= GFS_OWN_CACHE_BYTES && len * shards <= GFS_OWN_CACHE_BYTES;
  if (hint == GFSMITH_HINT_CACHED || (hint == GFSMITH_HINT_AUTO && fits))
    return GFS_PATH_cached;
  if (len < GFS_STREAM_MIN)
    return GFS_PATH_nearby;
  return len < GFS_BULK_MIN ? GFS_PATH_distant : GFS_PATH_bulk;
}

/* The same where what is computed is looked at at once, so that no store may go around the cache.
 */
static inline gfs_path gfs_dispatch_check_path(gfsmith_hint hint, unsigned shards, size_t len) {
  gfs_path path = gfs_dispatch_path(hint, shards, len);
  return path < GFS_PATH_distant ? path : GFS_PATH_nearby;
}

/* How well a kernel that stores and prefetches (bytes ahead, 0: not) like this suits a path: the
 * more the better, 0 for not at all; best of all the one that is tuned for it on this CPU. If a
 * build has a kernel with a rank on GFS_PATH_cached, it has one for the same on all paths. */
unsigned gfs_dispatch_rank(gfsmith_kernel *run, gfs_path path, gfs_store store, unsigned prefetch);

/* The kernel that codecs use for an operation with this many inputs and outputs: the one that suits
 * the path best, and of several one made for exactly these inputs rather than one for any number.
 * NULL if the build has none, and then so for all paths if it is so for GFS_PATH_cached.
 * Here and in gfs_baked_kernel, its like for known matrices, is where kernels are chosen. */
gfsmith_kernel *gfs_dispatch_kernel(const gfs_isa *isa, gfs_operation operation, unsigned inputs,
                                    unsigned outputs, gfs_path path);

#endif
