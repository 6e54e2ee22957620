#include "contention.h"

#include "thread.h"

/* Least interval between two counts of threads: a scan of all slots takes a microsecond. */
enum { COUNT_MS = 10 };

/* Number of readings over which counter values are smoothed; there are no conclusions before that
 * number. */
static const unsigned smooth_over = 16;

/* Least share of useless prefetches that others are compared with: below it they do no harm, and
 * AMD's lower bound is often 0. */
static const double least_share = 0.01;

void gfs_contention_begin(gfs_contention *contention, const gfsmith_adaptive_options *options,
                          gfs_trace *trace, _Atomic uint32_t *conditions) {
  contention->options = options;
  contention->trace = trace;
  contention->conditions = conditions;
  contention->process = gfs_threads_process();
  contention->latency = contention->useless = -1;
  contention->least_latency = contention->least_useless = -1;
  atomic_init(&contention->count, 1);
  atomic_init(&contention->pending, 1);
  atomic_flag_clear(&contention->reading);
}

bool gfs_contention_open_counters(gfs_contention *contention, char *why, size_t size) {
  contention->counters_open = gfs_counters_open(&contention->counters, why, size);
  return contention->counters_open;
}

void gfs_contention_end(gfs_contention *contention) {
  if (contention->counters_open)
    gfs_counters_close(&contention->counters);
}

/* Is `a` before `b`, on a clock that wraps after 49 days? */
static bool before(uint32_t a, uint32_t b) { return (int32_t)(a - b) < 0; }

/* A free slot, or a slot whose thread has been inactive for long. */
static gfs_place *take_place(gfs_contention *contention, uint32_t ticket, uint32_t now_ms) {
  for (unsigned n = 0; n < GFS_THREADS_MAX; n++) {
    gfs_place *place = &contention->place[n];
    uint32_t until = atomic_load_explicit(&place->until_ms, memory_order_relaxed);
    if (until != 0 && !before(until + 60000, now_ms))
      continue;
    if (!atomic_compare_exchange_strong(&place->until_ms, &until, now_ms | 1))
      continue;
    uint32_t places = atomic_load(&contention->places);
    while (places < n + 1 && !atomic_compare_exchange_weak(&contention->places, &places, n + 1))
      ;
    return place;
  }
  return &contention->place[ticket % GFS_THREADS_MAX];
}

void gfs_presence_enter(gfs_contention *contention, gfs_presence *presence, uint32_t now_ms) {
  uint32_t given = atomic_load(&contention->tickets);
  while (given < GFS_TICKETS_MAX &&
         !atomic_compare_exchange_weak(&contention->tickets, &given, given + 1))
    ;
  presence->ticket = given < GFS_TICKETS_MAX ? given + 1 : 0;
  presence->place = take_place(contention, presence->ticket, now_ms);
  presence->last_ms = now_ms;
}

void gfs_presence_stamp(gfs_presence *presence, uint32_t now_ms, uint32_t idle_ms) {
  uint32_t away = (now_ms - presence->last_ms) * 4;
  uint32_t most = idle_ms * 16;
  away = away < idle_ms ? idle_ms : away > most ? most : away;
  presence->last_ms = now_ms;
  /* 0 marks a free slot. */
  atomic_store_explicit(&presence->place->until_ms, (now_ms + away) | 1, memory_order_relaxed);
}

/* Replace the bits of `mask` in the conditions. Return whether any bit changed. */
static bool set_conditions(gfs_contention *contention, uint32_t mask, uint32_t bits) {
  uint32_t before = atomic_load(contention->conditions);
  while (!atomic_compare_exchange_weak(contention->conditions, &before, (before & ~mask) | bits))
    ;
  return (before & mask) != bits;
}

/* The number of active threads, at least 1. */
static unsigned present_threads(const gfs_contention *contention, uint32_t now_ms) {
  unsigned places = atomic_load_explicit(&contention->places, memory_order_relaxed), count = 0;
  for (unsigned n = 0; n < places; n++) {
    uint32_t until = atomic_load_explicit(&contention->place[n].until_ms, memory_order_relaxed);
    count += until != 0 && !before(until, now_ms);
  }
  return count > 0 ? count : 1;
}

static void count_threads(gfs_contention *contention, uint32_t now_ms) {
  uint32_t counted = atomic_load_explicit(&contention->counted_ms, memory_order_relaxed);
  bool first = counted == 0;
  if ((!first && now_ms - counted < COUNT_MS) ||
      !atomic_compare_exchange_strong(&contention->counted_ms, &counted, now_ms))
    return;
  unsigned threads = present_threads(contention, now_ms);
  uint32_t key = gfs_key_threads(threads);
  if (!first && gfs_key_threads(atomic_exchange(&contention->pending, threads)) != key)
    return;
  unsigned before = atomic_exchange(&contention->count, threads);
  if (set_conditions(contention, 7u << GFS_KEY_THREADS_AT, key))
    gfs_trace_write(contention->trace, "pressure",
                    ", \"threads\": %u, \"why\": \"threads in calls: %u before\"", threads, before);
}

/* Add a reading to a smoothed value; both are negative if not known. */
static void smooth(double *value, double reading) {
  if (reading >= 0)
    *value = *value < 0 ? reading : *value + (reading - *value) / smooth_over;
}

/* `value` over its minimum, which is updated and counts as `floor` at least; negative if it is not
 * known. */
static double over_least(double value, double *least, double floor) {
  if (value < 0)
    return -1;
  if (*least < 0 || value < *least)
    *least = value;
  double base = *least > floor ? *least : floor;
  return base > 0 ? value / base : -1;
}

static void conclude_level(gfs_contention *contention) {
  double latency = over_least(contention->latency, &contention->least_latency, 0);
  double useless = over_least(contention->useless, &contention->least_useless, least_share);
  gfs_contention_level seen = gfs_contention_counted(contention->options, latency, useless);
  atomic_store(&contention->seen, seen);
  if (set_conditions(contention, GFS_KEY_HIGH, seen == GFS_CONTENTION_HIGH ? GFS_KEY_HIGH : 0))
    gfs_trace_write(contention->trace, "pressure",
                    ", \"threads\": %u, \"contention\": %s, \"useless\": %s, \"why\": \"%s\"",
                    (unsigned)atomic_load(&contention->count), gfs_decimal_of(latency, 3).text,
                    gfs_decimal_of(useless, 3).text,
                    seen == GFS_CONTENTION_HIGH
                        ? "loads are slow, and hardware prefetches are useless: high contention"
                        : "low contention again");
}

/* In a child after fork(): the counters are those of the parent, and so is the level. */
static void forget_level(gfs_contention *contention) {
  atomic_store(&contention->seen, GFS_CONTENTION_UNKNOWN);
  set_conditions(contention, GFS_KEY_HIGH, 0);
}

static void read_due_counters(gfs_contention *contention) {
  double latency = -1, useless = -1;
  if (contention->process != gfs_threads_process()) {
    forget_level(contention);
  } else if (gfs_counters_read(&contention->counters, &latency, &useless)) {
    smooth(&contention->latency, latency);
    smooth(&contention->useless, useless);
    contention->reads += latency >= 0;
    if (contention->reads >= smooth_over)
      conclude_level(contention);
  }
}

static void read_counters(gfs_contention *contention, uint64_t now_ns) {
  if (!contention->counters_open || atomic_flag_test_and_set(&contention->reading))
    return;
  if (now_ns - contention->read_ns >= 1000000000u / contention->options->rate) {
    contention->read_ns = now_ns;
    read_due_counters(contention);
  }
  atomic_flag_clear(&contention->reading);
}

void gfs_contention_update(gfs_contention *contention, uint64_t now_ns, uint32_t now_ms) {
  count_threads(contention, now_ms);
  read_counters(contention, now_ns);
}
