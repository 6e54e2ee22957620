/* candidates.h: the policies worth trying for a workload, in order, with the reason for each:
 * section 4.1 of the paper as a pure function. */
#ifndef GFS_CANDIDATES_H
#define GFS_CANDIDATES_H

#include <stdbool.h>
#include <stddef.h>

#include "device.h"
#include "gfsmith_adaptive.h"
#include "policy.h"

/* The level of memory contention (`pressure` in the trace). */
typedef enum gfs_contention_level {
  GFS_CONTENTION_UNKNOWN, /* neither the counters nor a device buffer determine it */
  GFS_CONTENTION_LOW,
  GFS_CONTENTION_HIGH
} gfs_contention_level;

/* The properties of a call. */
typedef struct gfs_workload {
  unsigned k, m, threads;
  size_t len;
  const gfs_device *device;
  gfs_contention_level counted; /* by the counters; GFS_CONTENTION_UNKNOWN without counters */
  bool have[GFS_WALKS][2]; /* the kernels of the build, by traversal order and type of stores */
} gfs_workload;

typedef struct gfs_candidate {
  gfs_policy policy;
  const char *why; /* one short sentence without quotes */
} gfs_candidate;

enum { GFS_CANDIDATES_MAX = 24 };

/* Lines of all sources of a call: the most that software can prefetch. */
size_t gfs_workload_lines(const gfs_workload *s);

/* Equation (1): is the buffer of the device large enough for the prefetched lines of all threads?
 *
 *     threads * k * line * ceil(max(distance) / (k + m)) <= buffer,   m = 0 for streaming stores
 *
 * This form is for rows, which begin a line of the device in every source before they complete the
 * first. The form for blocks:
 *
 *     threads * line * ceil(max(distance) / (line / 64)) <= buffer
 *
 * Always true for a device without a buffer. */
bool gfs_distance_fits(const gfs_workload *s, gfs_walk_kind walk, unsigned distance,
                       bool streaming);

/* The longest distance that satisfies the equation, at most GFSMITH_ADAPTIVE_DISTANCE_MAX; 0: no
 * distance does. */
unsigned gfs_distance_furthest(const gfs_workload *s, gfs_walk_kind walk, bool streaming);

/* High if there are more threads than options->threads, or more than equation (1) allows at a
 * distance of one line of every source, or if the counters report it. */
gfs_contention_level gfs_workload_contention(const gfs_workload *s,
                                             const gfsmith_adaptive_options *o);

/* The level according to the counters. contention: load latency over the least measured; useless:
 * useless prefetches per byte over the least measured; negative if not known.
 */
gfs_contention_level gfs_contention_counted(const gfsmith_adaptive_options *o, double contention,
                                            double useless);

/* Write the candidates, `default` first. Return their number. */
unsigned gfs_candidates_write(const gfs_workload *s, const gfsmith_adaptive_options *o,
                              gfs_candidate candidates[GFS_CANDIDATES_MAX]);

#endif
