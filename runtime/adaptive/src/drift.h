/* drift.h: detects a lasting change of the time per byte after a search. A pure state machine. */
#ifndef GFS_DRIFT_H
#define GFS_DRIFT_H

#include <stdint.h>

#include "options.h"

/* Number of windows after a search whose median is the reference, and number of consecutive windows
 * that must deviate in the same direction: a window of some milliseconds may deviate because of any
 * other work on the machine. */
enum { GFS_DRIFT_FIRST = 3, GFS_DRIFT_INSIST = 3 };

/* Samples of one cell by one thread. */
typedef struct gfs_drift {
  unsigned count;   /* samples in the current window */
  unsigned windows; /* complete windows, up to GFS_DRIFT_FIRST */
  uint32_t last_ms; /* time of the last sample; there is at most one per millisecond */
  int away;         /* consecutive windows that were slower or, if negative, faster */
  float reference;  /* nanoseconds per byte */
  float first[GFS_DRIFT_FIRST];
  float time[GFS_WINDOW_MAX];
} gfs_drift;

void gfs_drift_begin(gfs_drift *drift);

/* Add a sample: nanoseconds per byte, and its time in milliseconds of a clock that may wrap. If it
 * completes a window, and the median has deviated by more than options->moved in the same direction
 * in at least GFS_DRIFT_INSIST consecutive windows, return the relative deviation, e.g. -0.2; else
 * 0. */
float gfs_drift_feed(gfs_drift *drift, const gfsmith_adaptive_options *options, uint32_t now_ms,
                     float time);

/* Milliseconds from a decision that `stood` reviews have confirmed to its next review:
 * options->review_ms, multiplied by 16 for each, at most 12 days. 0: there is none. */
uint32_t gfs_drift_review(const gfsmith_adaptive_options *options, unsigned stood);

#endif
