#include "coordinator.h"

#include <stdlib.h>

#include "clock.h"
#include "codec.h"
#include "options.h"
#include "sizes.h"

void gfs_adaptive_blind(gfsmith_adaptive *adaptive, gfs_blind reason, const char *why) {
  uint32_t bit = UINT32_C(1) << reason;
  if ((atomic_load(&adaptive->said) & bit) != 0 ||
      (atomic_fetch_or(&adaptive->said, bit) & bit) != 0)
    return;
  char safe[512];
  gfs_trace_safe(safe, sizeof safe, why);
  fprintf(stderr, "gfsmith: adaptive: %s\n", safe);
  gfs_trace_write(&adaptive->trace, "blind", ", \"why\": \"%s\"", safe);
}

static void open_trace(gfsmith_adaptive *adaptive) {
  char why[512];
  if (gfs_trace_open(&adaptive->trace, adaptive->options.trace))
    return;
  snprintf(why, sizeof why, "%.256s: the trace cannot be written; going on without",
           adaptive->options.trace);
  gfs_adaptive_blind(adaptive, GFS_BLIND_TRACE, why);
}

static void read_device(gfsmith_adaptive *adaptive) {
  char wrong[160], why[512];
  gfs_device_defaults(&adaptive->device);
  if (adaptive->options.device != NULL &&
      !gfs_device_read(adaptive->options.device, &adaptive->device, wrong, sizeof wrong)) {
    snprintf(why, sizeof why, "%.256s: %s; going on as for DRAM", adaptive->options.device, wrong);
    gfs_adaptive_blind(adaptive, GFS_BLIND_DEVICE, why);
  }
  adaptive->device_lines = adaptive->device.line / GFS_CACHE_LINE;
}

/* Returns what it says of counters: "" if they are open. */
static void open_counters(gfsmith_adaptive *adaptive, char *why, size_t size) {
  char said[256];
  snprintf(why, size, "not asked for");
  if (adaptive->options.counters == 0)
    return;
  adaptive->counters_open = gfs_counters_open(&adaptive->counters, why, size);
  if (adaptive->counters_open) {
    why[0] = '\0';
    return;
  }
  snprintf(said, sizeof said, "no counters: %.128s; going on with the time of calls", why);
  gfs_adaptive_blind(adaptive, GFS_BLIND_COUNTERS, said);
}

static void write_start(gfsmith_adaptive *adaptive, const char *why) {
  const gfsmith_adaptive_options *o = &adaptive->options;
  const gfs_device *d = &adaptive->device;
  char safe[160];
  gfs_trace_safe(safe, sizeof safe, why);
  gfs_trace_write(
      &adaptive->trace, "start",
      ", \"version\": 1, \"isa\": \"%s\", \"counters\": %s, \"why\": \"%s\", \"device\": "
      "{\"name\": "
      "\"%s\", \"line\": %u, \"buffer\": %u, \"latency\": %u, \"streams\": %u, \"channels\": %u}, "
      "\"options\": {\"contention\": %g, \"useless\": %g, \"threads\": %u, \"page\": %u, "
      "\"moved\": "
      "%g, \"neighbourhood\": %u, \"step\": %u, \"first_extra\": %u, \"sample\": %u, \"run\": %u, "
      "\"run_bytes\": %u, "
      "\"rounds\": %u, \"margin\": %g, \"search_calls\": %u, \"window\": %u, \"patience\": %u, "
      "\"review_ms\": %u, \"idle_ms\": %u, \"rate\": %u}",
      gfsmith_isa(), adaptive->counters_open ? "true" : "false", safe, d->name, d->line, d->buffer,
      d->latency, d->streams, d->channels, o->contention, o->useless, o->threads, o->page, o->moved,
      o->neighbourhood, o->step, o->first_extra, o->sample, o->run, o->run_bytes, o->rounds,
      o->margin, o->search_calls, o->window, o->patience, o->review_ms, o->idle_ms, o->rate);
}

/* How many coordinators there were. */
static _Atomic uint32_t created;

static void begin_coordinator(gfsmith_adaptive *adaptive, const gfsmith_adaptive_options *options) {
  adaptive->base.attach = gfs_adaptive_attach;
  adaptive->options = *options;
  adaptive->id = atomic_fetch_add(&created, 1) + 1;
  adaptive->start_ns = gfs_clock_ns();
  adaptive->latency = adaptive->useless = -1;
  adaptive->least_latency = adaptive->least_useless = -1;
  atomic_init(&adaptive->count, 1);
  atomic_init(&adaptive->pending, 1);
  atomic_flag_clear(&adaptive->reading);
}

gfsmith_status gfsmith_adaptive_create(gfsmith_adaptive **out,
                                       const gfsmith_adaptive_options *options) {
  if (out == NULL)
    return GFSMITH_EINVAL;
  *out = NULL;
  gfsmith_adaptive_options environment;
  gfs_options_environment(&environment);
  bool given = options != NULL;
  if (!given)
    options = &environment;
  gfs_policy policy = {.walk = GFS_WALK_DEFAULT};
  bool known = options->size != sizeof *options || options->policy == NULL ||
               gfs_policy_read(options->policy, &policy);
  if (!gfs_options_valid(options) || (given && !known))
    return GFSMITH_EINVAL;
  gfsmith_adaptive *adaptive = calloc(1, sizeof *adaptive);
  if (adaptive == NULL)
    return GFSMITH_ENOMEM;
  begin_coordinator(adaptive, options);
  char why[160];
  open_trace(adaptive);
  read_device(adaptive);
  open_counters(adaptive, why, sizeof why);
  write_start(adaptive, why);
  if (!known)
    gfs_adaptive_blind(
        adaptive, GFS_BLIND_POLICY,
        "GFSMITH_ADAPT_POLICY is no policy (docs/adaptive.md has what is); adapting");
  else if (options->policy != NULL)
    atomic_store(&adaptive->base.forced, gfs_policy_pack(policy));
  /* Texts are the caller's. */
  adaptive->options.trace = adaptive->options.device = adaptive->options.policy = NULL;
  *out = adaptive;
  return GFSMITH_OK;
}

void gfsmith_adaptive_destroy(gfsmith_adaptive *adaptive) {
  if (adaptive == NULL)
    return;
  if (adaptive->counters_open)
    gfs_counters_close(&adaptive->counters);
  gfs_trace_close(&adaptive->trace);
  free(adaptive);
}

gfsmith_status gfsmith_adaptive_force(gfsmith_adaptive *adaptive, const char *policy) {
  gfs_policy read;
  if (adaptive == NULL || (policy != NULL && !gfs_policy_read(policy, &read)))
    return GFSMITH_EINVAL;
  atomic_store(&adaptive->base.forced, policy != NULL ? gfs_policy_pack(read) : 0);
  return GFSMITH_OK;
}

size_t gfsmith_adaptive_policy(const gfsmith_adaptive *adaptive, const gfsmith_codec *codec,
                               size_t len, char *text, size_t size) {
  if (size > 0 && text != NULL)
    text[0] = '\0';
  if (adaptive == NULL || codec == NULL || (size > 0 && text == NULL) || len == 0 ||
      codec->adaptive != &adaptive->base || codec->packets != NULL ||
      gfs_dispatch_path(codec->hint, codec->k + codec->m, len) == GFS_PATH_cached)
    return 0;
  const gfs_attached *attached = (const gfs_attached *)codec->encoder->adaptive;
  gfsmith_adaptive *shared = gfs_coordinator_of(attached); /* the same, for looking only */
  uint32_t packed = atomic_load(&shared->base.forced);
  if (packed == 0) {
    uint32_t key = gfs_attached_key(attached, len, atomic_load(&shared->conditions));
    const gfs_cell *cell = gfs_cells_find(&shared->cells, key);
    if (cell == NULL)
      return 0;
    packed = atomic_load(&cell->policy);
  }
  return gfs_policy_text(gfs_policy_unpack(packed), text, size);
}
