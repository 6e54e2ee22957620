/* tuned.h: the limits of this CPU's microarchitecture (path.h), and kernels that were measured to
 * be the fastest on some (gfsmith tune).
 *
 * CPUID identifies the microarchitecture. For tests and comparisons, the environment variable
 * GFSMITH_CPU names another one of the build, or "generic": that of unknown CPUs. Another name is
 * reported in one line on stderr and ignored. */
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
