#include "tuned.h"

#if !defined(GFSMITH_SINGLE_ISA)
#include <stdatomic.h>
#endif
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct tuned_row {
  const char *name; /* NULL ends the list */
  gfs_path path;
  gfsmith_kernel *run;
  bool added;
} tuned_row;

static const tuned_row tuned_kernels[] = {
#define GFSMITH_TUNED_CPU(name, vendor, family, first, last)
#define GFSMITH_TUNED(name, path, symbol, added) {name, GFS_PATH_##path, symbol, added},
#include "tuned.inc"
#undef GFSMITH_TUNED_CPU
#undef GFSMITH_TUNED
    {NULL, GFS_PATH_cached, NULL, false},
};

#if defined(GFSMITH_SINGLE_ISA)

/* A build for one instruction set does not identify the CPU. */
static const char *name_here(void) { return ""; }

#else

typedef struct cpu_row {
  const char *name; /* NULL ends the list */
  const char *vendor;
  unsigned family, first, last; /* models */
} cpu_row;

static const cpu_row cpus[] = {
#define GFSMITH_TUNED_CPU(name, vendor, family, first, last) {name, vendor, family, first, last},
#define GFSMITH_TUNED(name, path, symbol, added)
#include "tuned.inc"
#undef GFSMITH_TUNED_CPU
#undef GFSMITH_TUNED
    {NULL, NULL, 0, 0, 0},
};

/* The microarchitecture of an identity, among those with tuned kernels in this build; "" for none.
 */
static const char *tuned_name(const gfs_cpu_identity *identity) {
  for (const cpu_row *row = cpus; row->name != NULL; row++)
    if (strcmp(row->vendor, identity->vendor) == 0 && row->family == identity->family &&
        row->first <= identity->model && identity->model <= row->last)
      return row->name;
  return "";
}

/* The name of this CPU's microarchitecture; NULL: not yet identified. */
static _Atomic(const char *) here;

/* The CPU is identified once, because CPUID takes microseconds under a hypervisor. Concurrent
 * threads obtain the same result. */
static const char *name_here(void) {
  const char *name = atomic_load_explicit(&here, memory_order_acquire);
  if (name == NULL) {
    gfs_cpu_identity identity;
    gfs_cpu_identify(&identity);
    name = tuned_name(&identity);
    atomic_store_explicit(&here, name, memory_order_release);
  }
  return name;
}

#endif

gfs_tuning gfs_tuned(gfsmith_kernel *run, gfs_path path) {
  gfs_tuning tuning = GFS_TUNING_NONE;
  for (const tuned_row *row = tuned_kernels; row->name != NULL; row++) {
    if (row->run != run)
      continue;
    if (row->path == path && strcmp(row->name, name_here()) == 0)
      return GFS_TUNING_HERE;
    if (row->added)
      tuning = GFS_TUNING_ELSEWHERE;
  }
  return tuning;
}
