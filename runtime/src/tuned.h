/* tuned.h: kernels that were measured to be best on some microarchitectures (gfsmith tune). */
#ifndef GFS_TUNED_H
#define GFS_TUNED_H

#include "cpu.h"
#include "dispatch.h"

typedef enum gfs_tuning {
  GFS_TUNING_NONE,      /* the kernel is chosen by what it does */
  GFS_TUNING_HERE,      /* it is the one for this CPU and path */
  GFS_TUNING_ELSEWHERE, /* it is in the build for other CPUs or paths only */
} gfs_tuning;

/* The microarchitecture that an identity belongs to, of those that have tuned kernels in this
 * build; "" for none. A pure function. */
const char *gfs_tuned_name(const gfs_cpu_identity *identity);

/* How a kernel stands on the CPU this runs on. */
gfs_tuning gfs_tuned(gfsmith_kernel *run, gfs_path path);

#endif
