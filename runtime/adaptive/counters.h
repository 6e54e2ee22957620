/* counters.h: what the CPU's counters say of memory while this program runs, where the system lets
 * it see them.
 *
 * Two figures, of the paper's section 4.1: the latency of loads that memory answers, and how much
 * of what was fetched into the second-level cache hardware had prefetched in vain. Linux,
 * perf_event_open, on the cores that counters_cores.c knows; anything else is one reason, in words,
 * and no figures.
 *
 * What is seen: the thread that opens the counters, and every thread started by a thread that is
 * seen; user code alone, as perf_event_paranoid of 2 grants it. Loads are sampled at 1 kHz by each
 * processor. */
#ifndef GFS_COUNTERS_H
#define GFS_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cpu.h"

#if defined(__linux__) && defined(__has_include)
#if __has_include(<linux/perf_event.h>)
#define GFS_SEES_COUNTERS /* else there is nothing to open */
#endif
#endif

struct perf_event_attr;
struct perf_event_mmap_page;

#define GFS_COUNTERS_HERTZ 1000u /* samples a second on each processor */
#define GFS_COUNTERS_LEAST 16u   /* loads from memory that an average needs */

/* A core: how its loads are sampled and what it counts. 0: there is no such event. */
typedef struct gfs_counters_core {
  const char *name;
  enum { GFS_SAMPLES_PEBS, GFS_SAMPLES_IBS } samples;
  uint64_t loads;   /* event that samples loads, by PEBS; for IBS its configuration */
  uint64_t beside;  /* event that has to lead the group of `loads` */
  uint64_t useless; /* lines that hardware prefetched into the second-level cache and nobody used */
  uint64_t lines_in; /* lines fetched into it */
} gfs_counters_core;

/* The core of an identity (cpu.h), or NULL. */
const gfs_counters_core *gfs_counters_core_of(const gfs_cpu_identity *identity);

/* The system calls, so that a test can be the kernel. All fail as the system's do: -1 and errno. */
typedef struct gfs_counters_system {
  void (*identify)(gfs_cpu_identity *identity);
  int (*processors)(void); /* numbers of processors are below this */
  int (*ibs_type)(void);   /* what perf_event_attr.type has to be for IBS; -1: there is none */
  int (*open)(const struct perf_event_attr *attr, int processor,
              int group); /* this thread's; a descriptor */
  struct perf_event_mmap_page *(*map)(int descriptor, size_t size); /* NULL: failed */
  void (*unmap)(struct perf_event_mmap_page *page, size_t size);
  ptrdiff_t (*read)(int descriptor, void *to, size_t size);
  void (*close)(int descriptor);
} gfs_counters_system;

/* One count, of all processors: value, time enabled, time running, as the kernel last said. */
typedef struct gfs_counters_count {
  int descriptor; /* -1: not counted */
  uint64_t last[3];
} gfs_counters_count;

typedef struct gfs_counters {
  const gfs_counters_system *system;
  const gfs_counters_core *core;
  struct gfs_counters_ring *rings; /* one a processor that is there */
  int count;                       /* of rings */
  gfs_counters_count useless, lines_in, cycles, reference;
  uint64_t samples, sum; /* loads from memory since the last answer, and their cycles */
  uint64_t lost;         /* records that the kernel had no room for, since the beginning */
} gfs_counters;

/* Linux; NULL in a build without it. */
extern const gfs_counters_system *const gfs_counters_kernel;

/* One line about a system call that failed: what it said, and what that means here. */
void gfs_counters_explain(char *why, size_t size, const char *call, int error);

/* Begin. False: nothing is open, and `why` (of `size` bytes, 128 suffice) has one reason in one
 * line. */
bool gfs_counters_open(gfs_counters *counters, char *why, size_t size);

/* The same with another kernel, which has to outlive the counters. */
bool gfs_counters_open_on(gfs_counters *counters, const gfs_counters_system *system, char *why,
                          size_t size);

/* What happened since it last answered. latency_ns: average of a load that memory answered.
 * useless_per_byte: bytes prefetched in vain per byte fetched into the second-level cache; negative
 * if that is not known (this core does not count them, or its counters were lent to others all the
 * time). False: fewer than GFS_COUNTERS_LEAST such loads yet, or no time; nothing is written and
 * the samples are kept. No memory is allocated. One thread at a time. */
bool gfs_counters_read(gfs_counters *counters, double *latency_ns, double *useless_per_byte);

/* End; after gfs_counters_open failed there is nothing to end, and it does no harm. */
void gfs_counters_close(gfs_counters *counters);

#endif
