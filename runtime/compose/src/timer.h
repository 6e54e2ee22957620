/* Timers of the engine's thread: a list ordered by the time at which they end. Most timers have the
 * same duration, so that a new one belongs at the end of the list; no memory is allocated. */
#ifndef GFC_TIMER_H
#define GFC_TIMER_H

#include <stdint.h>
#include <sys/queue.h>

typedef struct gfc_timer gfc_timer;
struct gfc_timer {
  TAILQ_ENTRY(gfc_timer) entry;
  uint64_t at;                    /* milliseconds of gfc_now; 0: not running */
  void (*over)(gfc_timer *timer); /* called once; it may start the timer again, or free the memory
                                     that contains it */
};

typedef TAILQ_HEAD(gfc_timers, gfc_timer) gfc_timers;

/* Milliseconds of a monotonic clock, never 0. Any thread. */
uint64_t gfc_now(void);
/* Nanoseconds of the same clock. Any thread. */
uint64_t gfc_now_ns(void);

/* Start or restart a timer, which is zero before its first start; `over` and `at` as above. */
void gfc_timer_start(gfc_timers *timers, gfc_timer *timer, uint64_t at, void (*over)(gfc_timer *));
void gfc_timer_stop(gfc_timers *timers, gfc_timer *timer);
/* Call the functions of the timers that have ended. */
void gfc_timers_run(gfc_timers *timers);
/* Milliseconds until the next timer ends, -1 if there is none: the timeout of poll. */
int gfc_timers_wait(const gfc_timers *timers);

#endif
