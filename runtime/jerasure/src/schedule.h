/* schedule.h: running a schedule. */
#ifndef GFS_JERASURE_SCHEDULE_H
#define GFS_JERASURE_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

/* Run a schedule once, on one region of packets. */
void gfs_jerasure_run(uint8_t *const *ptrs, int *const *schedule, size_t packet);

#endif
