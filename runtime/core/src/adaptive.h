/* adaptive.h: the core's interface to the coordinator (runtime/adaptive/), which a build may lack:
 * two structs with function pointers, without any symbol that the linker would have to find. */
#ifndef GFS_ADAPTIVE_H
#define GFS_ADAPTIVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dispatch.h"
#include "gfsmith.h"

struct gfs_map;
struct gfs_stripes;

/* A map that is attached to a coordinator. */
typedef struct gfs_adaptive_map gfs_adaptive_map;
typedef struct gfs_coordinator gfs_coordinator;
struct gfs_adaptive_map {
  /* As gfs_map_apply_pieces, with a policy that the coordinator chooses. The path is not
   * GFS_PATH_cached, len > 0. */
  void (*apply)(gfs_adaptive_map *self, gfs_path path, size_t len, const uint8_t *const *src,
                uint8_t *const *dst);
  /* As gfs_map_apply_short_stripes, with such a policy; the arguments are valid for it. */
  void (*apply_stripes)(gfs_adaptive_map *self, gfs_path path, size_t len,
                        const struct gfs_stripes *stripes);
  void (*detach)(gfs_adaptive_map *self);
  gfs_coordinator *coordinator;
  /* Length of calls that skip the coordinator until the thread's next timed call, because its
   * overhead is largest for the shortest calls. 0: none. */
  _Atomic(size_t) quiet;
};

/* The interface through which maps are attached. */
struct gfs_coordinator {
  /* *out is valid until the map is detached, and NULL for a map without inputs. Errors:
   * GFSMITH_ENOMEM, *out NULL then. */
  gfsmith_status (*attach)(gfs_coordinator *self, const gfs_isa *isa, const struct gfs_map *map,
                           gfs_adaptive_map **out);
  _Atomic(uint32_t) forced; /* the policy of all calls, packed; 0: adapt */
};

/* Attach a new codec to the program's common coordinator if GFSMITH_ADAPT=1. Only in builds with
 * the coordinator, which define GFSMITH_WITH_ADAPTIVE for the core. Errors: GFSMITH_ENOMEM.
 */
gfsmith_status gfs_adaptive_environment(gfsmith_codec *codec);

#ifdef GFSMITH_WITH_ADAPTIVE
/* Number of calls of this thread until the next timed one, including it; 0: the thread is not yet
 * registered with a coordinator. Without the model "initial-exec", which is faster in a shared
 * library: it would need memory that the loader reserves for few libraries, so that the library
 * could not be loaded at run time. */
extern _Thread_local uint32_t gfs_adaptive_left;

/* Does a call of this length skip the coordinator? If so, the call is counted. */
static inline bool gfs_adaptive_is_quiet(const gfs_adaptive_map *map, size_t len) {
  if (atomic_load_explicit(&map->quiet, memory_order_relaxed) != len || gfs_adaptive_left <= 1 ||
      atomic_load_explicit(&map->coordinator->forced, memory_order_relaxed) != 0)
    return false;
  gfs_adaptive_left--;
  return true;
}
#else
#define gfs_adaptive_is_quiet(map, len) false
#endif

#endif
