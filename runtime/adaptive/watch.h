/* watch.h: does a byte still take the time that it took when the search was over? Pure. */
#ifndef GFS_WATCH_H
#define GFS_WATCH_H

#include "options.h"

/* What one thread saw of one cell. The first window after a search is what later ones are compared
 * with. */
typedef struct gfs_watch {
  unsigned count;   /* samples of the window so far */
  unsigned windows; /* that are complete */
  float reference;  /* nanoseconds a byte */
  float time[GFS_WINDOW_MAX];
} gfs_watch;

void gfs_watch_begin(gfs_watch *watch);

/* A sample: nanoseconds a byte. Returns by what part the median of a window that it completes has
 * moved, e.g. -0.2, if that is more than options->moved and at least `calm` windows are complete;
 * else 0. */
float gfs_watch_feed(gfs_watch *watch, const gfsmith_adaptive_options *options, unsigned calm,
                     float time);

#endif
