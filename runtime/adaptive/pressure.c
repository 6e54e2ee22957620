/* How many threads there are, and how contended memory is. */
#include "coordinator.h"

/* Threads are counted so often at most: looking at all their places takes a microsecond. */
enum { COUNT_MS = 10 };

/* What counters say is smoothed over so many readings, and nothing is concluded before. */
static const unsigned smooth_over = 16;

/* Put bits of the conditions in place of those of `mask`. Returns whether that changed any. */
static bool set_conditions(gfsmith_adaptive *adaptive, uint32_t mask, uint32_t bits) {
  uint32_t before = atomic_load(&adaptive->conditions);
  while (!atomic_compare_exchange_weak(&adaptive->conditions, &before, (before & ~mask) | bits))
    ;
  return (before & mask) != bits;
}

static void count_threads(gfsmith_adaptive *adaptive, uint32_t now_ms) {
  uint32_t counted = atomic_load_explicit(&adaptive->counted_ms, memory_order_relaxed);
  bool first = counted == 0;
  if ((!first && now_ms - counted < COUNT_MS) ||
      !atomic_compare_exchange_strong(&adaptive->counted_ms, &counted, now_ms))
    return;
  unsigned threads = gfs_threads_count(&adaptive->threads, now_ms);
  uint32_t key = gfs_key_threads(threads);
  if (!first && gfs_key_threads(atomic_exchange(&adaptive->pending, threads)) != key)
    return;
  unsigned before = atomic_exchange(&adaptive->count, threads);
  if (set_conditions(adaptive, 7u << GFS_KEY_THREADS_AT, key))
    gfs_trace_write(&adaptive->trace, "pressure",
                    ", \"threads\": %u, \"why\": \"threads in calls: %u before\"", threads, before);
}

/* A reading into a smoothed value; both negative if not known. */
static void smooth(double *value, double reading) {
  if (reading >= 0)
    *value = *value < 0 ? reading : *value + (reading - *value) / smooth_over;
}

/* `value` over the least that it was, which it may lower; negative if it is not known. */
static double over_least(double value, double *least) {
  if (value < 0)
    return -1;
  if (*least < 0 || value < *least)
    *least = value;
  return *least > 0 ? value / *least : -1;
}

static void conclude_pressure(gfsmith_adaptive *adaptive) {
  double contention = over_least(adaptive->latency, &adaptive->least_latency);
  double useless = over_least(adaptive->useless, &adaptive->least_useless);
  gfs_pressure seen = gfs_situation_counted(&adaptive->options, contention, useless);
  atomic_store(&adaptive->seen, seen);
  if (set_conditions(adaptive, GFS_KEY_HIGH, seen == GFS_PRESSURE_HIGH ? GFS_KEY_HIGH : 0))
    gfs_trace_write(&adaptive->trace, "pressure",
                    ", \"threads\": %u, \"contention\": %.3f, \"useless\": %.3f, \"why\": \"%s\"",
                    (unsigned)atomic_load(&adaptive->count), contention, useless,
                    seen == GFS_PRESSURE_HIGH
                        ? "loads wait, and hardware prefetches are useless: high pressure"
                        : "low pressure again");
}

static void read_counters(gfsmith_adaptive *adaptive, uint64_t now_ns) {
  if (!adaptive->counters_open || atomic_flag_test_and_set(&adaptive->reading))
    return;
  double latency = -1, useless = -1;
  bool due = now_ns - adaptive->read_ns >= 1000000000u / adaptive->options.rate;
  if (due)
    adaptive->read_ns = now_ns;
  if (due && gfs_counters_read(&adaptive->counters, &latency, &useless)) {
    smooth(&adaptive->latency, latency);
    smooth(&adaptive->useless, useless);
    adaptive->reads += latency >= 0;
    if (adaptive->reads >= smooth_over)
      conclude_pressure(adaptive);
  }
  atomic_flag_clear(&adaptive->reading);
}

void gfs_pressure_update(gfsmith_adaptive *adaptive, uint64_t now_ns) {
  count_threads(adaptive, gfs_adaptive_ms(adaptive, now_ns));
  read_counters(adaptive, now_ns);
}
