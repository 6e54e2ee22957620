/* watch.h: does a byte still take the time that it took when the search was over? Pure. */
#ifndef GFS_WATCH_H
#define GFS_WATCH_H

#include <stdint.h>

#include "options.h"

/* Windows after a search whose median is what later ones are compared with, and windows in a row
 * that have to have moved the same way: one of some milliseconds moves with whatever else the
 * machine does. */
enum { GFS_WATCH_FIRST = 3, GFS_WATCH_INSIST = 3 };

/* What one thread saw of one cell. */
typedef struct gfs_watch {
  unsigned count;   /* samples of the window so far */
  unsigned windows; /* that are complete, up to GFS_WATCH_FIRST */
  uint32_t last_ms; /* when there was a sample last; one a millisecond is taken */
  int away;         /* windows in a row that were slower, or, negative, faster */
  float reference;  /* nanoseconds a byte */
  float first[GFS_WATCH_FIRST];
  float time[GFS_WINDOW_MAX];
} gfs_watch;

void gfs_watch_begin(gfs_watch *watch);

/* A sample: nanoseconds a byte, and when, in milliseconds of a clock that may wrap. Returns by what
 * part the median of a window that it completes has moved, e.g. -0.2, if that is more than
 * options->moved the same way for the third time or more in a row; else 0. */
float gfs_watch_feed(gfs_watch *watch, const gfsmith_adaptive_options *options, uint32_t now_ms,
                     float time);

/* Milliseconds until a decision that has stood so many reviews is looked at again:
 * options->review_ms, 16 times as many after each, 12 days at most. 0: it is not. */
uint32_t gfs_watch_review(const gfsmith_adaptive_options *options, unsigned stood);

#endif
