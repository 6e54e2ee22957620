#include "watch.h"

#include "trial.h"

void gfs_watch_begin(gfs_watch *watch) {
  watch->count = watch->windows = 0;
  watch->reference = 0;
}

float gfs_watch_feed(gfs_watch *watch, const gfsmith_adaptive_options *options, unsigned calm,
                     float time) {
  watch->time[watch->count++] = time;
  if (watch->count < options->window)
    return 0;
  watch->count = 0;
  float median = gfs_median(watch->time, options->window);
  if (watch->windows++ == 0)
    watch->reference = median;
  float moved = median / watch->reference - 1;
  bool far = moved > (float)options->moved || moved < -(float)options->moved;
  return far && watch->windows > calm ? moved : 0;
}
