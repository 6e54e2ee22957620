/* statistics.h: the counters of jerasure_get_stats. */
#ifndef GFS_JERASURE_STATISTICS_H
#define GFS_JERASURE_STATISTICS_H

#include <stdint.h>

/* Bytes, in the order of jerasure_get_stats. */
typedef struct gfs_jerasure_work {
  uint64_t added, multiplied, copied;
} gfs_jerasure_work;

/* Add to the counters; threads may do so at the same time. */
void gfs_jerasure_count(const gfs_jerasure_work *work);

#endif
