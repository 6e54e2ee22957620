/* situation.h: section 4.1 of the paper as a pure function: what is known of a call, and the
 * policies that are worth trying there, in order, with the reason for each. */
#ifndef GFS_SITUATION_H
#define GFS_SITUATION_H

#include <stdbool.h>
#include <stddef.h>

#include "device.h"
#include "gfsmith_adaptive.h"
#include "policy.h"

typedef enum gfs_pressure {
  GFS_PRESSURE_UNKNOWN, /* neither counters nor a device's buffer tell */
  GFS_PRESSURE_LOW,
  GFS_PRESSURE_HIGH
} gfs_pressure;

typedef struct gfs_situation {
  unsigned k, m, threads;
  size_t len;
  const gfs_device *device;
  gfs_pressure counted;    /* what the counters say; GFS_PRESSURE_UNKNOWN without */
  bool have[GFS_WALKS][2]; /* which kernels there are, by whether they stream */
} gfs_situation;

typedef struct gfs_candidate {
  gfs_policy policy;
  const char *why; /* one short sentence without quotes */
} gfs_candidate;

enum { GFS_CANDIDATES_MAX = 24 };

/* Lines of all sources of a call: what software may ask for, at most. */
size_t gfs_situation_lines(const gfs_situation *s);

/* Equation (1): is the buffer of the device large enough for what so many threads ask for?
 *
 *     threads * k * line * ceil(max(distance) / (k + m)) <= buffer,   m = 0 for streaming stores
 *
 * That is of rows, which begin a line of the device in every source before they are done with the
 * first. Blocks do not:
 *
 *     threads * line * ceil(max(distance) / (line / 64)) <= buffer
 *
 * Always so for a device without a buffer. */
bool gfs_situation_fits(const gfs_situation *s, gfs_walk_kind walk, unsigned distance,
                        bool streaming);

/* The longest distance for which it holds, at most GFSMITH_ADAPTIVE_DISTANCE_MAX; 0: for none. */
unsigned gfs_situation_furthest(const gfs_situation *s, gfs_walk_kind walk, bool streaming);

/* High beyond options->threads or equation (1) with a distance of one line of every source, and
 * where counters say so. */
gfs_pressure gfs_situation_pressure(const gfs_situation *s, const gfsmith_adaptive_options *o);

/* What the counters say: contention is the latency of loads over the least that was seen, useless
 * the useless prefetches of a byte over the least that was seen; each negative if it is not known.
 */
gfs_pressure gfs_situation_counted(const gfsmith_adaptive_options *o, double contention,
                                   double useless);

/* Write the candidates, `default` first. Returns how many. */
unsigned gfs_situation_candidates(const gfs_situation *s, const gfsmith_adaptive_options *o,
                                  gfs_candidate candidates[GFS_CANDIDATES_MAX]);

#endif
