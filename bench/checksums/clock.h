/* clock.h: the time of the drivers in this folder. */
#ifndef BENCH_CHECKSUMS_CLOCK_H
#define BENCH_CHECKSUMS_CLOCK_H

#include <time.h>

/* Nanoseconds of CPU time of the process: time of other processes does not count. */
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

#endif
