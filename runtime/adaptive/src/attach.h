/* attach.h: attaching maps to a coordinator. */
#ifndef GFS_ATTACH_H
#define GFS_ATTACH_H

#include "adaptive.h"

/* The function `attach` of gfs_coordinator. */
gfsmith_status gfs_attach_map(gfs_coordinator *self, const gfs_isa *isa, const struct gfs_map *map,
                              gfs_adaptive_map **out);

#endif
