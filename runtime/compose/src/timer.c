#include "timer.h"

#include <limits.h>
#include <stddef.h>
#include <time.h>

uint64_t gfc_now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

uint64_t gfc_now(void) { return gfc_now_ns() / 1000000 + 1; }

void gfc_timer_start(gfc_timers *timers, gfc_timer *timer, uint64_t at, void (*over)(gfc_timer *)) {
  gfc_timer_stop(timers, timer);
  timer->at = at != 0 ? at : 1;
  timer->over = over;
  gfc_timer *before = TAILQ_LAST(timers, gfc_timers);
  while (before != NULL && before->at > timer->at)
    before = TAILQ_PREV(before, gfc_timers, entry);
  if (before != NULL)
    TAILQ_INSERT_AFTER(timers, before, timer, entry);
  else
    TAILQ_INSERT_HEAD(timers, timer, entry);
}

void gfc_timer_stop(gfc_timers *timers, gfc_timer *timer) {
  if (timer->at == 0)
    return;
  timer->at = 0;
  TAILQ_REMOVE(timers, timer, entry);
}

void gfc_timers_run(gfc_timers *timers) {
  uint64_t now = gfc_now();
  gfc_timer *timer;
  while ((timer = TAILQ_FIRST(timers)) != NULL && timer->at <= now) {
    gfc_timer_stop(timers, timer);
    timer->over(timer);
  }
}

int gfc_timers_wait(const gfc_timers *timers) {
  const gfc_timer *first = TAILQ_FIRST(timers);
  if (first == NULL)
    return -1;
  uint64_t now = gfc_now();
  if (first->at <= now)
    return 0;
  return first->at - now < INT_MAX ? (int)(first->at - now) : INT_MAX;
}
