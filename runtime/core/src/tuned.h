/* tuned.h: kernels that were measured to be the fastest on some microarchitectures (gfsmith
 * tune). */
#ifndef GFS_TUNED_H
#define GFS_TUNED_H

#include "cpu.h"
#include "gfsmith_kernels.h"
#include "path.h"

typedef enum gfs_tuning {
  GFS_TUNING_NONE,      /* not tuned: the kernel is chosen by its properties */
  GFS_TUNING_HERE,      /* tuned for this CPU and path */
  GFS_TUNING_ELSEWHERE, /* tuned for other CPUs or paths only */
} gfs_tuning;

/* The tuning of a kernel for this CPU. */
gfs_tuning gfs_tuned(gfsmith_kernel *run, gfs_path path);

#endif
