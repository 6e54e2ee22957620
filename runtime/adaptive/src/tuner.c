#include "tuner.h"

/* Timed calls. */
typedef struct lesson {
  const gfs_attached *attached;
  gfsmith_adaptive *adaptive;
  gfs_cell *cell;
  size_t len;
  bool batched;
  size_t calls;
  uint32_t packed; /* policy of the calls */
  uint32_t now_ms;
  float time;  /* nanoseconds per byte of a source */
  float moved; /* relative change since the previous search */
} lesson;

/* Source bytes of the calls. */
static size_t bytes_of(const lesson *l) { return l->len * l->attached->k * l->calls; }

static void write_event(const lesson *l, const char *event, gfs_policy policy, gfs_policy before,
                        const char *why, unsigned calls, double ratio) {
  char text[GFS_POLICY_TEXT], old[GFS_POLICY_TEXT];
  gfs_policy_text(policy, text, sizeof text);
  gfs_policy_text(before, old, sizeof old);
  gfs_decimal number = {"null"};
  if (ratio > 0)
    number = gfs_decimal_of(ratio, 4);
  gfs_trace_write(
      &l->adaptive->trace, event,
      ", \"k\": %u, \"m\": %u, \"len\": %llu, \"batched\": %s, \"threads\": %u, "
      "\"policy\": \"%s\", \"before\": \"%s\", \"why\": \"%s\", \"calls\": %u, "
      "\"ratio\": %s",
      l->attached->k, l->attached->m, (unsigned long long)l->len, l->batched ? "true" : "false",
      (unsigned)atomic_load(&l->adaptive->contention.count), text, old, why, calls, number.text);
}

static gfs_workload workload_of(const lesson *l) {
  gfsmith_adaptive *adaptive = l->adaptive;
  gfs_workload s = {.k = l->attached->k,
                    .m = l->attached->m,
                    .threads = atomic_load(&adaptive->contention.count),
                    .len = l->len,
                    .device = &adaptive->device};
  /* High contention according to the counters is a part of the key. */
  bool high = (atomic_load(&l->cell->key) & GFS_KEY_HIGH) != 0;
  bool low = atomic_load(&adaptive->contention.seen) == GFS_CONTENTION_LOW;
  s.counted = high ? GFS_CONTENTION_HIGH : low ? GFS_CONTENTION_LOW : GFS_CONTENTION_UNKNOWN;
  for (gfs_walk_kind walk = 0; walk < GFS_WALKS; walk++)
    for (unsigned streaming = 0; streaming < 2; streaming++) {
      gfs_policy policy = {.walk = walk, .streaming = streaming != 0};
      s.have[walk][streaming] = gfs_variants_have(&l->attached->variants, policy);
    }
  return s;
}

/* The reason for a search. */
typedef enum reason { REASON_NONE, REASON_NEW, REASON_MOVED, REASON_REVIEW } reason;

static void write_reason(const lesson *l, reason why) {
  gfs_policy policy = gfs_policy_unpack(l->packed);
  if (why == REASON_MOVED) {
    char text[64];
    snprintf(text, sizeof text, "the time of a byte has moved by %+.0f %%", (double)l->moved * 100);
    write_event(l, "recover", policy, policy, text, 0, 1 + (double)l->moved);
  }
  if (why == REASON_REVIEW)
    write_event(l, "review", policy, policy, "the last trials are repeated", 0, 0);
}

/* Begin a search in a cell that this thread drives. */
static void begin_search(const lesson *l, reason why) {
  gfs_cell *cell = l->cell;
  write_reason(l, why);
  cell->before = atomic_load(&cell->policy);
  cell->began_ms = l->now_ms;
  cell->reviewing = why == REASON_REVIEW;
  if (cell->reviewing) {
    gfs_policy_search_review(&cell->search);
  } else {
    gfs_workload workload = workload_of(l);
    gfs_candidate best = {gfs_policy_unpack(cell->before), "as before"};
    gfs_policy_search_begin(&cell->search, &l->adaptive->options, &workload, best);
  }
  if (cell->search.phase != GFS_SEARCH_OVER)
    atomic_store(&cell->policy, gfs_policy_pack(gfs_policy_search_policy(&cell->search)));
}

/* The pause after a search, as a multiple of its duration. */
static uint32_t rest_of(unsigned patience, unsigned vain) {
  return patience << (vain > 6 ? 6 : vain);
}

/* Set the earliest times of the next search and of the next review. */
static void plan_next(const lesson *l, bool changed) {
  gfs_cell *cell = l->cell;
  const gfsmith_adaptive_options *options = &l->adaptive->options;
  if (!cell->reviewing) {
    cell->vain = changed ? 0 : cell->vain + 1;
    uint32_t took = l->now_ms - cell->began_ms;
    atomic_store(&cell->rest_ms, l->now_ms + took * rest_of(options->patience, cell->vain));
  }
  cell->stood = cell->reviewing && !changed ? cell->stood + 1 : 0;
  uint32_t pause = cell->search.whole ? gfs_drift_review(options, cell->stood) : 0;
  atomic_store(&cell->review_ms, pause > 0 ? (l->now_ms + pause) | 1 : 0);
}

/* End of a search: keep its result. */
static void settle(const lesson *l) {
  gfs_cell *cell = l->cell;
  uint32_t packed = gfs_policy_pack(cell->search.best.policy);
  plan_next(l, packed != cell->before);
  atomic_store(&cell->policy, packed);
  atomic_fetch_add(&cell->searches, 1);
  write_event(l, "decide", cell->search.best.policy, gfs_policy_unpack(cell->before),
              cell->search.best.why, cell->search.calls, cell->search.best_score);
}

/* Continue the search of a cell that this thread drives. Return whether it is over. */
static bool go_on(const lesson *l) {
  gfs_cell *cell = l->cell;
  gfs_policy_search *search = &cell->search;
  if (search->phase != GFS_SEARCH_OVER &&
      l->packed != gfs_policy_pack(gfs_policy_search_policy(search))) {
    /* A call that began before this thread took over the search. */
    atomic_store(&cell->policy, gfs_policy_pack(gfs_policy_search_policy(search)));
    return false;
  }
  gfs_outcome outcome;
  gfs_progress progress = gfs_policy_search_feed(search, &l->adaptive->options, l->time, l->calls,
                                                 bytes_of(l), &outcome);
  if (outcome.ratio > 0)
    write_event(l, "trial", outcome.challenger.policy, outcome.holder.policy,
                outcome.challenger.why, search->calls, outcome.ratio);
  if (progress == GFS_SEARCH_DONE) {
    settle(l);
    return true;
  }
  uint32_t packed = gfs_policy_pack(gfs_policy_search_policy(search));
  if (packed != l->packed)
    atomic_store_explicit(&cell->policy, packed, memory_order_relaxed);
  return false;
}

/* Is a review of the decision due? */
static bool review_due(const lesson *l) {
  uint32_t review_ms = atomic_load_explicit(&l->cell->review_ms, memory_order_relaxed);
  return review_ms != 0 && (int32_t)(l->now_ms - review_ms) >= 0;
}

/* The reason to start a search in a cell without a driver, after this number of completed
 * searches. */
static reason wants_search(lesson *l, gfs_tuner *tuner, uint32_t searches) {
  gfs_cell *cell = l->cell;
  if (searches == 0)
    return REASON_NEW;
  unsigned number = (unsigned)(cell - l->adaptive->cells.cell);
  gfs_watched_cell *watched = &tuner->watched[number % GFS_WATCHED_CELLS];
  if (watched->cell != number || watched->searches != searches) {
    watched->cell = number;
    watched->searches = searches;
    gfs_drift_begin(&watched->drift);
  }
  l->moved = gfs_drift_feed(&watched->drift, &l->adaptive->options, l->now_ms, l->time);
  if (l->moved != 0 && (int32_t)(l->now_ms - atomic_load(&cell->rest_ms)) >= 0)
    return REASON_MOVED;
  return review_due(l) ? REASON_REVIEW : REASON_NONE;
}

/* Is the thread that drives the search inactive? */
static bool abandoned(const lesson *l) {
  uint32_t seen = atomic_load_explicit(&l->cell->seen_ms, memory_order_relaxed);
  return l->now_ms - seen > l->adaptive->options.idle_ms && l->now_ms - seen < UINT32_MAX / 2;
}

/* Can this thread, which is `mine`, go on with the search of a driver? */
static bool can_go_on(const lesson *l, uint32_t driver, uint32_t mine) {
  bool gone = (driver ^ mine) >> GFS_DRIVER_PROCESS_AT != 0;
  return driver == mine || ((driver & GFS_DRIVER_WORKS) == 0 && (gone || abandoned(l)));
}

/* Has a thread of another process left the search, perhaps inconsistent? */
static bool is_torn(uint32_t driver, uint32_t mine) {
  return (driver & GFS_DRIVER_WORKS) != 0 && (driver ^ mine) >> GFS_DRIVER_PROCESS_AT != 0;
}

/* Begin a search, or go on with one, if another thread does not. */
static void work(const lesson *l, uint32_t driver, uint32_t mine, reason why, uint32_t searches) {
  gfs_cell *cell = l->cell;
  if (!atomic_compare_exchange_strong(&cell->driver, &driver, mine | GFS_DRIVER_WORKS))
    return;
  if (why != REASON_NONE && atomic_load(&cell->searches) != searches) {
    atomic_store(&cell->driver, 0); /* another thread has searched meanwhile */
    return;
  }
  atomic_store_explicit(&cell->seen_ms, l->now_ms, memory_order_relaxed);
  bool over = false;
  if (why == REASON_NONE)
    over = go_on(l);
  else
    begin_search(l, why);
  atomic_store(&cell->driver, over ? 0 : mine);
}

void gfs_tuner_feed(const gfs_attached *attached, gfs_tuner *tuner, gfs_cell *cell,
                    const gfs_timing *timing) {
  gfsmith_adaptive *adaptive = gfs_coordinator_of(attached);
  lesson l = {.attached = attached,
              .adaptive = adaptive,
              .cell = cell,
              .len = timing->len,
              .batched = timing->batched,
              .calls = timing->calls,
              .packed = timing->packed};
  l.now_ms = gfs_coordinator_ms(adaptive, timing->end_ns);
  l.time = (float)(timing->end_ns - timing->begin_ns + 1) / (float)bytes_of(&l);
  gfs_presence_stamp(&tuner->presence, l.now_ms, adaptive->options.idle_ms);
  gfs_contention_update(&adaptive->contention, timing->end_ns, l.now_ms);
  uint32_t driver = atomic_load(&cell->driver);
  uint32_t searches = atomic_load_explicit(&cell->searches, memory_order_acquire);
  reason why = driver == 0 ? wants_search(&l, tuner, searches) : REASON_NONE;
  if ((driver == 0 && why == REASON_NONE) || tuner->presence.ticket == 0)
    return;
  uint32_t mine = gfs_driver_of(gfs_coordinator_process(adaptive), tuner->presence.ticket);
  if (is_torn(driver, mine))
    why = REASON_NEW;
  else if (driver != 0 && !can_go_on(&l, driver, mine))
    return;
  tuner->driver = mine;
  work(&l, driver, mine, why, searches);
}

void gfs_tuner_enter(gfs_tuner *tuner, gfsmith_adaptive *adaptive, uint32_t now_ms) {
  gfs_presence_enter(&adaptive->contention, &tuner->presence, now_ms);
  tuner->driver = GFS_DRIVER_WORKS;
  for (unsigned n = 0; n < GFS_WATCHED_CELLS; n++)
    tuner->watched[n].searches = 0;
}
