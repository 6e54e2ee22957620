#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* clock_gettime */
#endif

#include "clock.h"

#include <time.h>

uint64_t gfs_clock_ns(void) {
  struct timespec now;
#if defined(CLOCK_MONOTONIC)
  clock_gettime(CLOCK_MONOTONIC, &now);
#else
  timespec_get(&now, TIME_UTC);
#endif
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
