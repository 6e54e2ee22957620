/* tuner.h: evaluation of timed calls: the begin, progress and end of searches. */
#ifndef GFS_TUNER_H
#define GFS_TUNER_H

#include "contention.h"
#include "coordinator.h"
#include "drift.h"

/* Number of cells that a thread monitors at the same time, indexed by the last bits of their
 * number. */
enum { GFS_WATCHED_CELLS = 8 };

typedef struct gfs_watched_cell {
  gfs_drift drift;
  unsigned cell;
  uint32_t searches; /* completed searches of the cell when monitoring began */
} gfs_watched_cell;

/* The tuning state of one thread. */
typedef struct gfs_tuner {
  gfs_presence presence;
  uint32_t driver; /* the value of `driver` in cells in which it searches; before: of no cell */
  gfs_watched_cell watched[GFS_WATCHED_CELLS];
} gfs_tuner;

/* Timed calls of a cell, and their policy. */
typedef struct gfs_timing {
  size_t len;
  bool batched;
  uint64_t begin_ns, end_ns;
  size_t calls; /* stripes: a batch call counts as so many calls */
  uint32_t packed;
} gfs_timing;

/* Register a thread that is new to the coordinator. */
void gfs_tuner_enter(gfs_tuner *tuner, gfsmith_adaptive *adaptive, uint32_t now_ms);

/* Evaluate timed calls. */
void gfs_tuner_feed(const gfs_attached *attached, gfs_tuner *tuner, gfs_cell *cell,
                    const gfs_timing *timing);

#endif
