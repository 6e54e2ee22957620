#include "watch.h"

#include <stdlib.h>

#include "trial.h"

void gfs_watch_begin(gfs_watch *watch) {
  watch->count = watch->windows = 0;
  watch->away = 0;
}

/* A window is complete, with this median. */
static float close_window(gfs_watch *watch, const gfsmith_adaptive_options *options, float median) {
  if (watch->windows < GFS_WATCH_FIRST) {
    watch->first[watch->windows++] = median;
    watch->reference = gfs_median(watch->first, watch->windows);
    return 0;
  }
  float moved = median / watch->reference - 1;
  int way = moved > (float)options->moved ? 1 : moved < -(float)options->moved ? -1 : 0;
  watch->away = way * watch->away > 0 ? watch->away + way : way;
  return abs(watch->away) >= GFS_WATCH_INSIST ? moved : 0;
}

float gfs_watch_feed(gfs_watch *watch, const gfsmith_adaptive_options *options, uint32_t now_ms,
                     float time) {
  if (watch->count + watch->windows > 0 && now_ms == watch->last_ms)
    return 0;
  watch->last_ms = now_ms;
  watch->time[watch->count++] = time;
  if (watch->count < options->window)
    return 0;
  watch->count = 0;
  return close_window(watch, options, gfs_median(watch->time, options->window));
}

uint32_t gfs_watch_review(const gfsmith_adaptive_options *options, unsigned stood) {
  enum { MOST = 1 << 30, TIMES = 16 };
  uint64_t pause = options->review_ms;
  for (unsigned n = 0; n < stood && pause < MOST; n++)
    pause *= TIMES;
  return pause < MOST ? (uint32_t)pause : MOST;
}
