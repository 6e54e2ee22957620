/* clock.h: nanoseconds that only go up. */
#ifndef GFS_CLOCK_H
#define GFS_CLOCK_H

#include <stdint.h>

/* Since some moment. */
uint64_t gfs_clock_ns(void);

#endif
