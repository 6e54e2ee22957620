#include "threads.h"

/* Is `a` before `b`, on a clock that goes around after 49 days? */
static bool before(uint32_t a, uint32_t b) { return (int32_t)(a - b) < 0; }

/* A free place, or one whose thread is long gone. */
static gfs_place *take_place(gfs_threads *threads, uint32_t ticket, uint32_t now_ms) {
  for (unsigned n = 0; n < GFS_THREADS_MAX; n++) {
    gfs_place *place = &threads->place[n];
    uint32_t until = atomic_load_explicit(&place->until_ms, memory_order_relaxed);
    if (until != 0 && !before(until + 60000, now_ms))
      continue;
    if (!atomic_compare_exchange_strong(&place->until_ms, &until, now_ms | 1))
      continue;
    uint32_t places = atomic_load(&threads->places);
    while (places < n + 1 && !atomic_compare_exchange_weak(&threads->places, &places, n + 1))
      ;
    return place;
  }
  return &threads->place[ticket % GFS_THREADS_MAX];
}

void gfs_threads_enter(gfs_threads *threads, gfs_thread *thread, uint32_t owner, uint32_t now_ms) {
  thread->owner = owner;
  thread->map = 0;
  thread->ticket = atomic_fetch_add(&threads->tickets, 1) + 1;
  thread->place = take_place(threads, thread->ticket, now_ms);
  thread->last_ms = now_ms;
  for (unsigned n = 0; n < GFS_WATCHES; n++)
    thread->watched[n].searches = 0;
}

void gfs_threads_stamp(gfs_thread *thread, uint32_t now_ms, uint32_t idle_ms) {
  uint32_t away = (now_ms - thread->last_ms) * 4;
  uint32_t most = idle_ms * 16;
  away = away < idle_ms ? idle_ms : away > most ? most : away;
  thread->last_ms = now_ms;
  /* 0 is a free place. */
  atomic_store_explicit(&thread->place->until_ms, (now_ms + away) | 1, memory_order_relaxed);
}

unsigned gfs_threads_count(const gfs_threads *threads, uint32_t now_ms) {
  unsigned places = atomic_load_explicit(&threads->places, memory_order_relaxed), count = 0;
  for (unsigned n = 0; n < places; n++) {
    uint32_t until = atomic_load_explicit(&threads->place[n].until_ms, memory_order_relaxed);
    count += until != 0 && !before(until, now_ms);
  }
  return count > 0 ? count : 1;
}
