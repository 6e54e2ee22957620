/* call_path.h: the path of every call: find the cell, run its policy, time some of the calls. */
#ifndef GFS_CALL_PATH_H
#define GFS_CALL_PATH_H

#include "adaptive.h"

/* The function `apply` of gfs_adaptive_map. */
void gfs_call_path_apply(gfs_adaptive_map *self, gfs_path path, size_t len,
                         const uint8_t *const *src, uint8_t *const *dst);

#endif
