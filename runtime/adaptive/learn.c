/* What a timed call teaches: searches begin, go on and end here. */
#include "coordinator.h"

/* Timed calls. */
typedef struct lesson {
  const gfs_attached *attached;
  gfsmith_adaptive *adaptive;
  gfs_cell *cell;
  size_t len;
  unsigned calls;
  uint32_t packed; /* their policy */
  uint32_t now_ms;
  float time;  /* nanoseconds a byte of a source */
  float moved; /* by what part, since the search before */
} lesson;

/* Bytes of their sources. */
static size_t bytes_of(const lesson *l) { return l->len * l->attached->k * l->calls; }

static void write_event(const lesson *l, const char *event, gfs_policy policy, gfs_policy before,
                        const char *why, unsigned calls, double ratio) {
  char text[GFS_POLICY_TEXT], old[GFS_POLICY_TEXT], number[32] = "null";
  gfs_policy_text(policy, text, sizeof text);
  gfs_policy_text(before, old, sizeof old);
  if (ratio > 0)
    snprintf(number, sizeof number, "%.4f", ratio);
  gfs_trace_write(&l->adaptive->trace, event,
                  ", \"k\": %u, \"m\": %u, \"len\": %llu, \"threads\": %u, \"policy\": \"%s\", "
                  "\"before\": \"%s\", \"why\": \"%s\", \"calls\": %u, \"ratio\": %s",
                  l->attached->k, l->attached->m, (unsigned long long)l->len,
                  (unsigned)atomic_load(&l->adaptive->count), text, old, why, calls, number);
}

static gfs_situation situation_of(const lesson *l) {
  gfsmith_adaptive *adaptive = l->adaptive;
  gfs_situation s = {.k = l->attached->k,
                     .m = l->attached->m,
                     .threads = atomic_load(&adaptive->count),
                     .len = l->len,
                     .device = &adaptive->device};
  /* What the counters see of high pressure is a part of the key. */
  bool high = (atomic_load(&l->cell->key) & GFS_KEY_HIGH) != 0;
  bool low = atomic_load(&adaptive->seen) == GFS_PRESSURE_LOW;
  s.counted = high ? GFS_PRESSURE_HIGH : low ? GFS_PRESSURE_LOW : GFS_PRESSURE_UNKNOWN;
  for (gfs_walk_kind walk = 0; walk < GFS_WALKS; walk++)
    for (unsigned streaming = 0; streaming < 2; streaming++) {
      gfs_policy policy = {.walk = walk, .streaming = streaming != 0};
      s.have[walk][streaming] = gfs_variants_have(&l->attached->variants, policy);
    }
  return s;
}

/* Why a search begins. */
typedef enum reason { REASON_NONE, REASON_NEW, REASON_MOVED, REASON_REVIEW } reason;

static void write_reason(const lesson *l, reason why) {
  gfs_policy policy = gfs_policy_unpack(l->packed);
  if (why == REASON_MOVED) {
    char text[64];
    snprintf(text, sizeof text, "the time of a byte has moved by %+.0f %%", (double)l->moved * 100);
    write_event(l, "recover", policy, policy, text, 0, 1 + (double)l->moved);
  }
  if (why == REASON_REVIEW)
    write_event(l, "review", policy, policy, "the last trials once more", 0, 0);
}

/* The cell is this thread's: search. */
static void begin_search(const lesson *l, reason why) {
  gfs_cell *cell = l->cell;
  write_reason(l, why);
  cell->before = atomic_load(&cell->policy);
  cell->began_ms = l->now_ms;
  cell->reviewing = why == REASON_REVIEW;
  if (cell->reviewing) {
    gfs_hunt_review(&cell->hunt);
  } else {
    gfs_situation situation = situation_of(l);
    gfs_candidate best = {gfs_policy_unpack(cell->before), "as before"};
    gfs_hunt_begin(&cell->hunt, &l->adaptive->options, &situation, best);
  }
  if (cell->hunt.phase != GFS_HUNT_OVER)
    atomic_store(&cell->policy, gfs_policy_pack(gfs_hunt_policy(&cell->hunt)));
}

/* How many times as long as a search took there is to be none. */
static uint32_t rest_of(unsigned patience, unsigned vain) {
  return patience << (vain > 6 ? 6 : vain);
}

/* When there may be a search again, and when there is to be a review. */
static void plan_next(const lesson *l, bool changed) {
  gfs_cell *cell = l->cell;
  const gfsmith_adaptive_options *options = &l->adaptive->options;
  if (!cell->reviewing) {
    cell->vain = changed ? 0 : cell->vain + 1;
    uint32_t took = l->now_ms - cell->began_ms;
    atomic_store(&cell->rest_ms, l->now_ms + took * rest_of(options->patience, cell->vain));
  }
  cell->stood = cell->reviewing && !changed ? cell->stood + 1 : 0;
  uint32_t pause = cell->hunt.whole ? gfs_watch_review(options, cell->stood) : 0;
  atomic_store(&cell->review_ms, pause > 0 ? (l->now_ms + pause) | 1 : 0);
}

/* The search is over: keep what it found. */
static void settle(const lesson *l) {
  gfs_cell *cell = l->cell;
  uint32_t packed = gfs_policy_pack(cell->hunt.best.policy);
  plan_next(l, packed != cell->before);
  atomic_store(&cell->policy, packed);
  atomic_fetch_add(&cell->searches, 1);
  write_event(l, "decide", cell->hunt.best.policy, gfs_policy_unpack(cell->before),
              cell->hunt.best.why, cell->hunt.calls, cell->hunt.best_score);
}

/* The cell is this thread's, and its search is on: go on with it. True when it is over. */
static bool go_on(const lesson *l) {
  gfs_cell *cell = l->cell;
  gfs_hunt *hunt = &cell->hunt;
  if (hunt->phase != GFS_HUNT_OVER && l->packed != gfs_policy_pack(gfs_hunt_policy(hunt))) {
    /* A call that began before the thread took the search over. */
    atomic_store(&cell->policy, gfs_policy_pack(gfs_hunt_policy(hunt)));
    return false;
  }
  gfs_outcome outcome;
  gfs_progress progress =
      gfs_hunt_feed(hunt, &l->adaptive->options, l->time, l->calls, bytes_of(l), &outcome);
  if (outcome.ratio > 0)
    write_event(l, "trial", outcome.challenger.policy, outcome.holder.policy,
                outcome.challenger.why, hunt->calls, outcome.ratio);
  if (progress == GFS_HUNT_DONE) {
    settle(l);
    return true;
  }
  uint32_t packed = gfs_policy_pack(gfs_hunt_policy(hunt));
  if (packed != l->packed)
    atomic_store_explicit(&cell->policy, packed, memory_order_relaxed);
  return false;
}

/* Has the decision to be looked at again? */
static bool review_due(const lesson *l) {
  uint32_t review_ms = atomic_load_explicit(&l->cell->review_ms, memory_order_relaxed);
  return review_ms != 0 && (int32_t)(l->now_ms - review_ms) >= 0;
}

/* Nobody searches here, and so many searches are over: is there a reason to? */
static reason wants_search(lesson *l, gfs_thread *thread, uint32_t searches) {
  gfs_cell *cell = l->cell;
  if (searches == 0)
    return REASON_NEW;
  unsigned number = (unsigned)(cell - l->adaptive->cells.cell);
  gfs_watched *watched = &thread->watched[number % GFS_WATCHES];
  if (watched->cell != number || watched->searches != searches) {
    watched->cell = number;
    watched->searches = searches;
    gfs_watch_begin(&watched->watch);
  }
  l->moved = gfs_watch_feed(&watched->watch, &l->adaptive->options, l->now_ms, l->time);
  if (l->moved != 0 && (int32_t)(l->now_ms - atomic_load(&cell->rest_ms)) >= 0)
    return REASON_MOVED;
  return review_due(l) ? REASON_REVIEW : REASON_NONE;
}

/* Is the thread that searches here gone? */
static bool abandoned(const lesson *l, uint32_t driver) {
  uint32_t seen = atomic_load_explicit(&l->cell->seen_ms, memory_order_relaxed);
  return (driver & 1) == 0 && l->now_ms - seen > l->adaptive->options.idle_ms &&
         l->now_ms - seen < UINT32_MAX / 2;
}

void gfs_adaptive_learn(const gfs_attached *attached, gfs_thread *thread, gfs_cell *cell,
                        size_t len, const gfs_timing *timing) {
  gfsmith_adaptive *adaptive = gfs_coordinator_of(attached);
  lesson l = {attached, adaptive, cell, len, timing->calls, timing->packed, 0, 0, 0};
  l.now_ms = gfs_adaptive_ms(adaptive, timing->end_ns);
  l.time = (float)(timing->end_ns - timing->begin_ns + 1) / (float)bytes_of(&l);
  gfs_threads_stamp(thread, l.now_ms, adaptive->options.idle_ms);
  gfs_pressure_update(adaptive, timing->end_ns);
  uint32_t mine = thread->ticket * 2, driver = atomic_load(&cell->driver);
  bool continues = driver == mine || (driver != 0 && abandoned(&l, driver));
  uint32_t searches = atomic_load_explicit(&cell->searches, memory_order_acquire);
  reason why = continues || driver != 0 ? REASON_NONE : wants_search(&l, thread, searches);
  if (!continues && why == REASON_NONE)
    return;
  if (!atomic_compare_exchange_strong(&cell->driver, &driver, mine | 1))
    return;
  if (!continues && atomic_load(&cell->searches) != searches) {
    atomic_store(&cell->driver, 0); /* another thread has searched meanwhile */
    return;
  }
  atomic_store_explicit(&cell->seen_ms, l.now_ms, memory_order_relaxed);
  bool over = false;
  if (continues)
    over = go_on(&l);
  else
    begin_search(&l, why);
  atomic_store(&cell->driver, over ? 0 : mine);
}
