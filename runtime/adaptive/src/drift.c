#include "drift.h"

#include <stdlib.h>

#include "trial.h"

void gfs_drift_begin(gfs_drift *drift) {
  drift->count = drift->windows = 0;
  drift->away = 0;
}

/* Complete a window with this median. */
static float close_window(gfs_drift *drift, const gfsmith_adaptive_options *options, float median) {
  if (drift->windows < GFS_DRIFT_FIRST) {
    drift->first[drift->windows++] = median;
    drift->reference = gfs_median(drift->first, drift->windows);
    return 0;
  }
  float moved = median / drift->reference - 1;
  int way = moved > (float)options->moved ? 1 : moved < -(float)options->moved ? -1 : 0;
  drift->away = way * drift->away > 0 ? drift->away + way : way;
  return abs(drift->away) >= GFS_DRIFT_INSIST ? moved : 0;
}

float gfs_drift_feed(gfs_drift *drift, const gfsmith_adaptive_options *options, uint32_t now_ms,
                     float time) {
  if (drift->count + drift->windows > 0 && now_ms == drift->last_ms)
    return 0;
  drift->last_ms = now_ms;
  drift->time[drift->count++] = time;
  if (drift->count < options->window)
    return 0;
  drift->count = 0;
  return close_window(drift, options, gfs_median(drift->time, options->window));
}

uint32_t gfs_drift_review(const gfsmith_adaptive_options *options, unsigned stood) {
  enum { MOST = 1 << 30, TIMES = 16 };
  uint64_t pause = options->review_ms;
  for (unsigned n = 0; n < stood && pause < MOST; n++)
    pause *= TIMES;
  return pause < MOST ? (uint32_t)pause : MOST;
}
