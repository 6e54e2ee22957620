#include "coordinator.h"

#include "printable.h"
#include "sizes.h"
#include "thread.h"

void gfs_coordinator_blind(gfsmith_adaptive *adaptive, gfs_blind reason, const char *why) {
  uint32_t bit = UINT32_C(1) << reason;
  if ((atomic_load(&adaptive->said) & bit) != 0 ||
      (atomic_fetch_or(&adaptive->said, bit) & bit) != 0)
    return;
  char safe[512];
  gfs_printable(safe, sizeof safe, why);
  fprintf(stderr, "gfsmith: adaptive: %s\n", safe);
  gfs_trace_write(&adaptive->trace, "blind", ", \"why\": \"%s\"", safe);
}

static void open_trace(gfsmith_adaptive *adaptive) {
  char why[512];
  if (gfs_trace_open(&adaptive->trace, adaptive->options.trace))
    return;
  snprintf(why, sizeof why, "%.256s: the trace cannot be written; going on without",
           adaptive->options.trace);
  gfs_coordinator_blind(adaptive, GFS_BLIND_TRACE, why);
}

static void read_device(gfsmith_adaptive *adaptive) {
  char wrong[160], why[512];
  gfs_device_defaults(&adaptive->device);
  if (adaptive->options.device != NULL &&
      !gfs_device_read(adaptive->options.device, &adaptive->device, wrong, sizeof wrong)) {
    snprintf(why, sizeof why, "%.256s: %s; going on as for DRAM", adaptive->options.device, wrong);
    gfs_coordinator_blind(adaptive, GFS_BLIND_DEVICE, why);
  }
  adaptive->granules = (gfs_granules){.device = adaptive->device.line / GFS_CACHE_LINE,
                                      .page = adaptive->options.page};
}

/* Open the counters; `why` is "" if they are open, else the reason. */
static void open_counters(gfsmith_adaptive *adaptive, char *why, size_t size) {
  char said[256];
  snprintf(why, size, "not requested");
  if (adaptive->options.counters == 0)
    return;
  if (gfs_contention_open_counters(&adaptive->contention, why, size)) {
    why[0] = '\0';
    return;
  }
  snprintf(said, sizeof said, "no counters: %.128s; going on with the time of calls", why);
  gfs_coordinator_blind(adaptive, GFS_BLIND_COUNTERS, said);
}

static void write_start(gfsmith_adaptive *adaptive, const char *why) {
  const gfsmith_adaptive_options *o = &adaptive->options;
  const gfs_device *d = &adaptive->device;
  char safe[160];
  gfs_printable(safe, sizeof safe, why);
  gfs_trace_write(
      &adaptive->trace, "start",
      ", \"version\": 1, \"isa\": \"%s\", \"counters\": %s, \"why\": \"%s\", \"device\": "
      "{\"name\": "
      "\"%s\", \"line\": %u, \"buffer\": %u, \"latency\": %u, \"streams\": %u, \"channels\": %u}, "
      "\"options\": {\"contention\": %s, \"useless\": %s, \"threads\": %u, \"page\": %u, "
      "\"moved\": "
      "%s, \"neighbourhood\": %u, \"step\": %u, \"first_extra\": %u, \"sample\": %u, \"run\": %u, "
      "\"run_bytes\": %u, "
      "\"rounds\": %u, \"margin\": %s, \"search_calls\": %u, \"window\": %u, \"patience\": %u, "
      "\"review_ms\": %u, \"idle_ms\": %u, \"rate\": %u}",
      gfsmith_isa(), adaptive->contention.counters_open ? "true" : "false", safe, d->name, d->line,
      d->buffer, d->latency, d->streams, d->channels, gfs_decimal_of(o->contention, 6).text,
      gfs_decimal_of(o->useless, 6).text, o->threads, o->page, gfs_decimal_of(o->moved, 6).text,
      o->neighbourhood, o->step, o->first_extra, o->sample, o->run, o->run_bytes, o->rounds,
      gfs_decimal_of(o->margin, 6).text, o->search_calls, o->window, o->patience, o->review_ms,
      o->idle_ms, o->rate);
}

/* The number of coordinators created. */
static _Atomic uint32_t created;

void gfs_coordinator_begin(gfsmith_adaptive *adaptive, const gfsmith_adaptive_options *options) {
  char why[160];
  adaptive->options = *options;
  adaptive->id = atomic_fetch_add(&created, 1) + 1;
  adaptive->start_ns = gfs_clock_ns();
  atomic_init(&adaptive->process, (uint32_t)gfs_threads_process() << 8);
  gfs_contention_begin(&adaptive->contention, &adaptive->options, &adaptive->trace,
                       &adaptive->conditions);
  open_trace(adaptive);
  read_device(adaptive);
  open_counters(adaptive, why, sizeof why);
  write_start(adaptive, why);
  /* The strings belong to the caller. */
  adaptive->options.trace = adaptive->options.device = adaptive->options.policy = NULL;
}

uint32_t gfs_coordinator_process(gfsmith_adaptive *adaptive) {
  uint32_t own = (uint32_t)gfs_threads_process() << 8, known = atomic_load(&adaptive->process);
  while ((known & ~UINT32_C(255)) != own) {
    uint32_t next = own | ((known + 1) & 255);
    if (atomic_compare_exchange_weak(&adaptive->process, &known, next))
      known = next;
  }
  return known & 255;
}

void gfs_coordinator_end(gfsmith_adaptive *adaptive) {
  gfs_contention_end(&adaptive->contention);
  gfs_trace_close(&adaptive->trace);
}

uint32_t gfs_attached_key(const gfs_attached *attached, size_t len, bool batched,
                          uint32_t conditions) {
  unsigned page = gfs_coordinator_of(attached)->options.page;
  return attached->key | gfs_key_length(len, page, batched) | conditions;
}
