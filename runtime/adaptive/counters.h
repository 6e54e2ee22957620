/* counters.h: what the processor's counters say of memory, where the system lets a program look. */
#ifndef GFS_COUNTERS_H
#define GFS_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many events are open at most. */
enum { GFS_COUNTERS_MAX = 4 };

typedef struct gfs_counters {
  bool open;
  int descriptor[GFS_COUNTERS_MAX]; /* of perf_event_open; -1: none */
  void *ring;                       /* of sampled latencies; NULL: none */
  size_t ring_bytes;
  uint64_t before[GFS_COUNTERS_MAX]; /* what they said when they were last read */
} gfs_counters;

/* Count this process. False if that cannot be done: then one short sentence without a full stop
 * is in why[0 .. size), e.g. "perf_event_open: EACCES (kernel.perf_event_paranoid = 3)", nothing is
 * open, and nothing needs closing. Nothing is printed. */
bool gfs_counters_open(gfs_counters *counters, char *why, size_t size);

/* What was counted since the last call: the mean latency of loads in nanoseconds, and useless
 * hardware prefetches for a byte that was read; each negative if it is not known (too few events,
 * or this processor's event is not). False if nothing is known. By one thread at a time, whichever,
 * 1000 times a second at most. */
bool gfs_counters_read(gfs_counters *counters, double *latency_ns, double *useless_per_byte);

/* Close what gfs_counters_open opened. */
void gfs_counters_close(gfs_counters *counters);

#endif
