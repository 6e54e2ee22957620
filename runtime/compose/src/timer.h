/* Timers of the engine's thread: a list in the order in which they end. Most end after the same
 * time, so that a new one belongs at the end of it; no memory is allocated. */
#ifndef GFC_TIMER_H
#define GFC_TIMER_H

#include <stdint.h>
#include <sys/queue.h>

typedef struct gfc_timer gfc_timer;
struct gfc_timer {
  TAILQ_ENTRY(gfc_timer) entry;
  uint64_t at; /* milliseconds of gfc_now; 0: not running */
  void (*over)(
      gfc_timer *timer); /* called once; it may start it again, and free what it is part of */
};

typedef TAILQ_HEAD(gfc_timers, gfc_timer) gfc_timers;

/* Milliseconds of a clock that only goes forward, never 0. Any thread. */
uint64_t gfc_now(void);

/* `timer` is zero at first; `over` and `at` as above. */
void gfc_timer_start(gfc_timers *timers, gfc_timer *timer, uint64_t at, void (*over)(gfc_timer *));
void gfc_timer_stop(gfc_timers *timers, gfc_timer *timer);
/* Call those whose time has come. */
void gfc_timers_run(gfc_timers *timers);
/* Milliseconds until the next one ends, -1 if there is none: poll's timeout. */
int gfc_timers_wait(const gfc_timers *timers);

#endif
