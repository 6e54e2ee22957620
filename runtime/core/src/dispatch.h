/* dispatch.h: the instruction sets and kernels of this build, and the choice among them. */
#ifndef GFS_DISPATCH_H
#define GFS_DISPATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gfsmith.h"
#include "gfsmith_kernels.h"
#include "path.h"
#include "tables.h"

/* With -fsanitize=kcfi, calls by pointers read a type before the function's code. */
#if defined(__x86_64__) && defined(__has_feature)
#if __has_feature(kcfi)
#error "kernels in machine code have no types: compile this library with -fno-sanitize=kcfi"
#endif
#endif

/* The instruction sets of the build, best first. */
typedef enum gfs_isa_id {
#define GFSMITH_ISA(name, format, features) GFS_ISA_##name,
#include "isas.inc"
#undef GFSMITH_ISA
  GFS_ISAS /* number of instruction sets */
} gfs_isa_id;

typedef struct gfs_isa {
  const char *name;
  gfs_isa_id id;
  gfs_format format; /* format of its kernels' coefficients */
  uint32_t features; /* GFSMITH_CPU_*, all of them needed */
} gfs_isa;

typedef enum gfs_operation {
  GFS_OPERATION_dot,    /* dst[i]  = sum over j of c[i][j] * src[j] */
  GFS_OPERATION_mad,    /* dst[i] += sum over j of c[i][j] * src[j] */
  GFS_OPERATION_mul,    /* dst[j]  = c[j] * src[j] */
  GFS_OPERATION_xor,    /* dst[0]  = sum over j of src[j] */
  GFS_OPERATION_horner, /* dst[i] = sum over j of (2^i)^j * src[j], modulo 0x11d */
  GFS_OPERATION_fft,    /* x += C y, then y += x: in src and dst the planes of x, then those of y */
  GFS_OPERATION_ifft,   /* y += x, then x += C y */
  GFS_OPERATION_fft4,   /* two layers of fft on four elements, with three matrices */
  GFS_OPERATION_ifft4,  /* two layers of ifft */
  GFS_OPERATION_fft16,  /* four layers of fft on 16 elements, with 15 matrices */
  GFS_OPERATION_ifft16, /* four layers of ifft */
  /* ifft16, then fft16 whose first matrix of each layer is 0: its matrices, then those of ifft16 */
  GFS_OPERATION_refft16,
  /* those of fft4 and ifft4, and a change of the basis, where src or dst are 32 of every 64 bytes
     (transform.h) */
  GFS_OPERATION_fft4lines,
  GFS_OPERATION_ifft4lines,
  /* the same with a product of each element instead of the change */
  GFS_OPERATION_fft4scaled,
  GFS_OPERATION_ifft4scaled
} gfs_operation;

/* The type of a kernel's stores, as named in kernels.inc. */
typedef enum gfs_store { GFS_STORE_temporal, GFS_STORE_streaming } gfs_store;

/* The accesses of a kernel, as named in kernels.inc and baked.inc. */
typedef struct gfs_traits {
  gfs_store store;
  unsigned prefetch; /* bytes ahead; 0: none */
  bool any;          /* of dot with tables: it takes any number of inputs */
} gfs_traits;

/* Does a kernel with these traits prefetch any number of inputs and store around the cache? Its
 * loads may wait for its stores (apply.c). */
static inline bool gfs_traits_delay(gfs_traits traits) {
  return traits.any && traits.store == GFS_STORE_streaming && traits.prefetch > 0;
}

/* The longest distance of a prefetch that suits short shards (GFS_PATH_distant). A longer one
 * leaves too many lines at the beginning of the shards to prefetch before the kernel begins. */
#define GFS_PREFETCH_NEAR 128u

/* The current instruction set: chosen at the first use, changed by gfsmith_set_isa. NULL if this
 * build has none that this CPU supports. */
const gfs_isa *gfs_dispatch_isa(void);

/* The same without a call, for short calls; NULL also if it is not chosen yet. */
#if defined(GFSMITH_SINGLE_ISA)
static inline const gfs_isa *gfs_dispatch_known_isa(void) { return gfs_dispatch_isa(); }
#else
extern _Atomic(const gfs_isa *) gfs_dispatch_current;
static inline const gfs_isa *gfs_dispatch_known_isa(void) {
  return atomic_load_explicit(&gfs_dispatch_current, memory_order_acquire);
}
#endif

/* The functions for short updates of checksums (crc.h) with the current instruction set; NULL: not
 * found since it changed, or none. */
extern _Atomic(const struct gfs_crc_updates *) gfs_dispatch_updates;

/* The most data shards and parities of a call of gfsmith_raid.h. */
enum { GFS_SUMS_DATA = 255, GFS_SUMS_PARITIES = 3 };

/* The calls of gfsmith_raid.h in cache that have the same kernel, by their number of data shards:
 * one comparison of the length finds it, because a call on short shards takes little longer than
 * the instructions before the kernel. It needs no tables. */
typedef struct gfs_short_sums {
  _Atomic(size_t) most[GFS_SUMS_DATA + 1]; /* the greatest length; 0: no call has found a kernel */
  _Atomic(gfsmith_kernel *) kernel[GFS_SUMS_DATA + 1];
} gfs_short_sums;

/* By the number of parities - 1, with the current instruction set; lengths are 0 after a change. */
extern gfs_short_sums gfs_dispatch_sums[GFS_SUMS_PARITIES];

/* The rank of a kernel that is tuned for a path on this CPU, above all others. */
#define GFS_RANK_TUNED 6u

/* The suitability of a kernel for a path, from its stores and its prefetch distance (bytes; 0:
 * none): the higher the better, 0 if unsuitable. If a build has a kernel with a rank on
 * GFS_PATH_cached, it has a kernel with the same function for all paths. */
unsigned gfs_dispatch_rank(gfsmith_kernel *run, gfs_path path, gfs_store store, unsigned prefetch);

/* The kernel of codecs for an operation with this number of inputs and outputs: the one that suits
 * the path best, and among equals one for exactly this number of inputs rather than one for any
 * number. One that is tuned for any number yields to one for exactly this number. NULL if the build
 * has none; the result is NULL for all paths if it is NULL for GFS_PATH_cached. All kernels are
 * chosen here and in gfs_baked_kernel, the equivalent for known matrices. */
gfsmith_kernel *gfs_dispatch_kernel(const gfs_isa *isa, gfs_operation operation, unsigned inputs,
                                    unsigned outputs, gfs_path path);

/* The same with tables of a given format. */
gfsmith_kernel *gfs_dispatch_kernel_reading(const gfs_isa *isa, gfs_format format,
                                            gfs_operation operation, unsigned inputs,
                                            unsigned outputs, gfs_path path);

/* The inputs, more than `inputs` >= 1, of the kernel with tables and streaming stores for a fixed
 * number of them that computes this number from memory with coefficients 0 for the others; 0: there
 * is none, or one for exactly this number, or it would not pay. */
unsigned gfs_dispatch_wider(const gfs_isa *isa, unsigned inputs, unsigned outputs);

/* The accesses of a kernel that these functions choose; temporal stores and no prefetch for any
 * other function. */
gfs_traits gfs_dispatch_traits(gfsmith_kernel *run);

#endif
