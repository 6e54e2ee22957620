/* adaptive.h: what the core knows of the coordinator (runtime/adaptive/), which a build may lack:
 * two structs with function pointers, and nothing that the linker must find there. */
#ifndef GFS_ADAPTIVE_H
#define GFS_ADAPTIVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dispatch.h"
#include "gfsmith.h"

struct gfs_map;

/* A map that a coordinator runs. */
typedef struct gfs_adaptive_map gfs_adaptive_map;
typedef struct gfs_coordinator gfs_coordinator;
struct gfs_adaptive_map {
  /* What gfs_map_apply_pieces does, in a way that the coordinator chooses. The path is not
   * GFS_PATH_cached, len > 0. */
  void (*apply)(gfs_adaptive_map *self, gfs_path path, size_t len, const uint8_t *const *src,
                uint8_t *const *dst);
  void (*detach)(gfs_adaptive_map *self);
  gfs_coordinator *coordinator;
  /* Calls of this length run as without a coordinator until a thread's next is timed: the shortest
   * ones would pay most for asking. 0: none do. */
  _Atomic size_t quiet;
};

/* What makes them. */
struct gfs_coordinator {
  /* *out is the map's for as long as the map stands. Errors: GFSMITH_ENOMEM, *out NULL then. */
  gfsmith_status (*attach)(gfs_coordinator *self, const gfs_isa *isa, const struct gfs_map *map,
                           gfs_adaptive_map **out);
  _Atomic uint32_t forced; /* the policy of all calls, packed; 0: adapt */
};

/* In builds with the coordinator, which define GFSMITH_WITH_ADAPTIVE for the core: attach a new
 * codec to the program's common coordinator if GFSMITH_ADAPT=1 asks for it. Errors: GFSMITH_ENOMEM.
 */
gfsmith_status gfs_adaptive_environment(gfsmith_codec *codec);

#ifdef GFSMITH_WITH_ADAPTIVE
#ifdef __ELF__
#define GFS_THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))
#else
#define GFS_THREAD_LOCAL _Thread_local
#endif

/* Calls of this thread until one is timed, that one included; 0: it has not met a coordinator. */
extern GFS_THREAD_LOCAL uint32_t gfs_adaptive_left;

/* Is there nothing to ask for a call of this length? Then it is counted. */
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
