/* adaptive.h: what the core knows of the coordinator (runtime/adaptive/), which a build may lack:
 * two structs of function pointers, and nothing that the linker must find. */
#ifndef GFS_ADAPTIVE_H
#define GFS_ADAPTIVE_H

#include <stddef.h>
#include <stdint.h>

#include "dispatch.h"
#include "gfsmith.h"

struct gfs_map;

/* A map that a coordinator runs. Immutable but for what `detach` frees. */
typedef struct gfs_adaptive_map gfs_adaptive_map;
struct gfs_adaptive_map {
  /* What gfs_map_apply_pieces does, in a way that the coordinator chooses. The path is not
   * GFS_PATH_cached, len > 0. */
  void (*apply)(const gfs_adaptive_map *self, gfs_path path, size_t len, const uint8_t *const *src,
                uint8_t *const *dst);
  void (*detach)(const gfs_adaptive_map *self);
};

/* What makes them. */
typedef struct gfs_coordinator gfs_coordinator;
struct gfs_coordinator {
  /* *out is the map's for as long as the map stands. Errors: GFSMITH_ENOMEM, *out NULL then. */
  gfsmith_status (*attach)(gfs_coordinator *self, const gfs_isa *isa, const struct gfs_map *map,
                           const gfs_adaptive_map **out);
};

/* In builds with the coordinator, which define GFSMITH_WITH_ADAPTIVE for the core: attach a new
 * codec to the program's common coordinator if GFSMITH_ADAPT=1 asks for it. Errors: GFSMITH_ENOMEM.
 */
gfsmith_status gfs_adaptive_environment(gfsmith_codec *codec);

#endif
