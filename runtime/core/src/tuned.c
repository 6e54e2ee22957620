#include "tuned.h"

#include "printable.h"

#if !defined(GFSMITH_SINGLE_ISA)
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#endif
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct tuned_row {
  const char *name; /* NULL ends the list */
  gfs_path path;
  gfsmith_kernel *run;
  bool added;
} tuned_row;

static const tuned_row tuned_kernels[] = {
#define GFSMITH_TUNED_CPU(name, vendor, family, first, last, first_cache, own_cache, stream_min,   \
                          whole_min, fetch_first, stream_lines, long_rows)
#define GFSMITH_TUNED(name, path, symbol, added) {name, GFS_PATH_##path, symbol, added},
#include "tuned.inc"
#undef GFSMITH_TUNED_CPU
#undef GFSMITH_TUNED
    {NULL, GFS_PATH_cached, NULL, false},
};

typedef struct cpu_row {
  const char *name;
  const char *vendor;
  unsigned family, first, last; /* models */
  gfs_limits limits;
} cpu_row;

/* The last row is that of unknown CPUs. */
static const cpu_row cpus[] = {
#define GFSMITH_TUNED_CPU(name, vendor, family, first, last, first_cache, own_cache, stream_min,   \
                          whole_min, fetch_first, stream_lines, long_rows)                         \
  {name,   vendor,                                                                                 \
   family, first,                                                                                  \
   last,   {first_cache, own_cache, stream_min, whole_min, fetch_first, stream_lines, long_rows}},
#define GFSMITH_TUNED(name, path, symbol, added)
#include "tuned.inc"
#undef GFSMITH_TUNED_CPU
#undef GFSMITH_TUNED
};

static const cpu_row *const unknown = &cpus[sizeof cpus / sizeof cpus[0] - 1];

#if defined(GFSMITH_SINGLE_ISA)

/* A build for one instruction set does not identify the CPU. */
static const cpu_row *row_here(void) { return unknown; }

#else

static const cpu_row *row_of(const gfs_cpu_identity *identity) {
  for (const cpu_row *row = cpus; row < unknown; row++)
    if (strcmp(row->vendor, identity->vendor) == 0 && row->family == identity->family &&
        row->first <= identity->model && identity->model <= row->last)
      return row;
  return unknown;
}

/* Write one line in one call, so that lines of several threads or processes do not mix. */
static void complain_about_cpu(const char *name) {
  char allowed[512] = "", shown[65];
  size_t used = 0;
  for (const cpu_row *row = cpus; row <= unknown; row++) {
    size_t length = strlen(row->name);
    /* A microarchitecture has a row for each range of models. */
    if ((row > cpus && strcmp(row[-1].name, row->name) == 0) || used + length + 2 > sizeof allowed)
      continue;
    allowed[used] = ' ';
    memcpy(allowed + used + 1, row->name, length + 1);
    used += length + 1;
  }
  fprintf(stderr, "gfsmith: GFSMITH_CPU=%s is unknown; allowed:%s; identifying the CPU\n",
          gfs_printable(shown, sizeof shown, name), allowed);
}

/* The row that the environment names; NULL without one. */
static const cpu_row *requested(void) {
  const char *name = getenv("GFSMITH_CPU");
  if (name == NULL || name[0] == '\0')
    return NULL;
  for (const cpu_row *row = cpus; row <= unknown; row++)
    if (strcmp(row->name, name) == 0)
      return row;
  complain_about_cpu(name);
  return NULL;
}

/* The row of this CPU; NULL: not yet identified. */
static _Atomic(const cpu_row *) here;

/* The CPU is identified once, because CPUID takes microseconds under a hypervisor. Concurrent
 * threads obtain the same result. */
static const cpu_row *row_here(void) {
  const cpu_row *row = atomic_load_explicit(&here, memory_order_acquire);
  if (row == NULL) {
    row = requested();
    if (row == NULL) {
      gfs_cpu_identity identity;
      gfs_cpu_identify(&identity);
      row = row_of(&identity);
    }
    atomic_store_explicit(&here, row, memory_order_release);
  }
  return row;
}

#endif

const gfs_limits *gfs_limits_here(void) { return &row_here()->limits; }

gfs_tuning gfs_tuned(gfsmith_kernel *run, gfs_path path) {
  gfs_tuning tuning = GFS_TUNING_NONE;
  for (const tuned_row *row = tuned_kernels; row->name != NULL; row++) {
    if (row->run != run)
      continue;
    if (row->path == path && strcmp(row->name, row_here()->name) == 0)
      return GFS_TUNING_HERE;
    if (row->added)
      tuning = GFS_TUNING_ELSEWHERE;
  }
  return tuning;
}
