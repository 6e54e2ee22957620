/* call_path.h: the path of every call: find the cell, run its policy, time some of the calls. */
#ifndef GFS_CALL_PATH_H
#define GFS_CALL_PATH_H

#include "adaptive.h"

/* The functions `apply` and `apply_stripes` of gfs_adaptive_map. */
void gfs_call_path_apply(gfs_adaptive_map *self, gfs_path path, size_t len,
                         const uint8_t *const *src, uint8_t *const *dst);
void gfs_call_path_apply_stripes(gfs_adaptive_map *self, gfs_path path, size_t len,
                                 const struct gfs_stripes *stripes);

#endif
