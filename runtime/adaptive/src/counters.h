/* counters.h: figures about memory from the CPU's counters while this program runs, if the system
 * permits.
 *
 * The figures are those of the paper's section 4.1: the latency of loads served by memory, and the
 * fraction of lines fetched into the second-level cache that hardware prefetched without use. They
 * need Linux, perf_event_open and a core listed in counters.c; otherwise opening the counters fails
 * with a one-line reason.
 *
 * The counters cover the user code (as perf_event_paranoid of 2 permits) of the thread that opens
 * them and of all threads started from a covered thread afterwards. Loads are sampled at 1 kHz on
 * each CPU. */
#ifndef GFS_COUNTERS_H
#define GFS_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cpu.h"

#if defined(__linux__) && defined(__has_include)
#if __has_include(<linux/perf_event.h>)
#define GFS_SEES_COUNTERS /* else there are no counters to open */
#endif
#endif

struct perf_event_attr;
struct perf_event_mmap_page;

#define GFS_COUNTERS_HERTZ 1000u /* samples per second on each CPU */
#define GFS_COUNTERS_LEAST 16u   /* least number of loads from memory for an average */

/* An event that is counted, and its share in the two figures about prefetches: the number of lines
 * that hardware prefetched into the second-level cache without use, and the number of lines fetched
 * into it. */
typedef struct gfs_counters_event {
  uint64_t config; /* 0: none */
  signed char useless, lines_in;
} gfs_counters_event;

enum { GFS_COUNTERS_EVENTS = 4 };

/* A core type: the events that sample its loads and that it counts. 0: no such event. */
typedef struct gfs_counters_core {
  const char *name;
  enum { GFS_SAMPLES_PEBS, GFS_SAMPLES_IBS } samples;
  uint64_t loads;  /* event that samples loads, by PEBS; for IBS its configuration */
  uint64_t beside; /* event that must lead the group of `loads` */
  gfs_counters_event events[GFS_COUNTERS_EVENTS];
} gfs_counters_core;

/* The system calls, replaceable for tests. They report errors like the system: -1 and errno. */
typedef struct gfs_counters_system {
  void (*identify)(gfs_cpu_identity *identity);
  int (*processors)(void); /* upper bound of the CPU numbers */
  int (*ibs_type)(void);   /* the value of perf_event_attr.type for IBS; -1: there is no IBS */
  int (*open)(const struct perf_event_attr *attr, int processor,
              int group); /* of this thread; returns a descriptor */
  struct perf_event_mmap_page *(*map)(int descriptor, size_t size); /* NULL: failed */
  void (*unmap)(struct perf_event_mmap_page *page, size_t size);
  ptrdiff_t (*read)(int descriptor, void *to, size_t size);
  void (*close)(int descriptor);
} gfs_counters_system;

/* One count, over all CPUs: value, time enabled, time running, as last read from the kernel. */
typedef struct gfs_counters_count {
  int descriptor; /* -1: not counted */
  uint64_t last[3];
} gfs_counters_count;

typedef struct gfs_counters {
  const gfs_counters_system *system;
  const gfs_counters_core *core;
  struct gfs_counters_ring *rings;                                   /* one for each existing CPU */
  int count;                                                         /* number of rings */
  gfs_counters_count cycles, reference, events[GFS_COUNTERS_EVENTS]; /* events: as in the core */
  uint64_t samples, sum; /* loads from memory since the last result, and their cycles */
  uint64_t lost;         /* records that the kernel dropped since the beginning */
} gfs_counters;

/* The calls of Linux; NULL in a build without perf_event_open. */
extern const gfs_counters_system *const gfs_counters_kernel;

/* Open the counters. False: nothing is open, and `why` (`size` bytes, 128 suffice) holds the reason
 * in one line. */
bool gfs_counters_open(gfs_counters *counters, char *why, size_t size);

/* The same with other system calls, which must outlive the counters. */
bool gfs_counters_open_on(gfs_counters *counters, const gfs_counters_system *system, char *why,
                          size_t size);

/* Get the figures since the last successful call. latency_ns: average latency of loads served by
 * memory. useless_per_byte: uselessly prefetched bytes per byte fetched into the second-level
 * cache, on AMD a lower bound; negative if not known (the counters were used by others all the
 * time). False: fewer than GFS_COUNTERS_LEAST such loads so far, or no time; nothing is
 * written and the samples are kept. Allocates no memory. Must be called by one thread at a time. */
bool gfs_counters_read(gfs_counters *counters, double *latency_ns, double *useless_per_byte);

/* Close the counters; does nothing after gfs_counters_open failed. */
void gfs_counters_close(gfs_counters *counters);

#endif
