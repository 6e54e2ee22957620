#include "options.h"

#include <stdlib.h>
#include <string.h>

void gfsmith_adaptive_defaults(gfsmith_adaptive_options *options) {
  if (options == NULL)
    return;
  *options = (gfsmith_adaptive_options){
      .size = sizeof *options,
      .contention = 1.10,
      .useless = 1.50,
      .threads = 0,
      .page = 4096,
      .moved = 0.10,
      .neighbourhood = 16,
      .step = 4,
      .first_extra = 4,
      .sample = 64,
      .run = 8,
      .run_bytes = 4 << 20,
      .rounds = 15,
      .margin = 0.01,
      .search_calls = 1 << 24,
      .window = 15,
      .patience = 20,
      .review_ms = 250,
      .idle_ms = 100,
      .counters = 1,
      .rate = 1000,
  };
}

/* False also for NaN. */
static bool within(double value, double least, double most) {
  return value >= least && value <= most;
}

bool gfs_options_valid(const gfsmith_adaptive_options *o) {
  return o->size == sizeof *o && within(o->contention, 1, 1000) && within(o->useless, 1, 1000) &&
         within(o->page, 256, 1u << 30) && (o->page & (o->page - 1)) == 0 &&
         within(o->moved, 0.01, 10) && within(o->neighbourhood, 1, 1024) &&
         within(o->step, 1, o->neighbourhood) && within(o->first_extra, 0, 1024) &&
         within(o->sample, 1, 65536) && within(o->run, 2, GFS_RUN_MAX) &&
         within(o->run_bytes, 1, 1u << 30) && within(o->rounds, 3, GFS_ROUNDS_MAX) &&
         within(o->margin, 0, 0.5) && o->search_calls >= 1 &&
         within(o->window, 3, GFS_WINDOW_MAX) && within(o->patience, 0, 1000) &&
         within(o->review_ms, 0, 3600000) && within(o->idle_ms, 1, 3600000) && o->counters <= 1 &&
         within(o->rate, 1, 1000);
}

/* A program with more rights than its user must not write the files that the user names. */
#if defined(__linux__) && !defined(__ANDROID__)
char *secure_getenv(const char *name); /* strict C11 hides the declaration */
#else
#define secure_getenv getenv
#endif

static const char *given(const char *name) {
  const char *value = secure_getenv(name);
  return value != NULL && value[0] != '\0' ? value : NULL;
}

void gfs_options_environment(gfsmith_adaptive_options *options) {
  gfsmith_adaptive_defaults(options);
  options->trace = given("GFSMITH_ADAPT_TRACE");
  options->device = given("GFSMITH_ADAPT_DEVICE");
  options->policy = given("GFSMITH_ADAPT_POLICY");
}

int gfs_options_wanted(void) {
  const char *value = given("GFSMITH_ADAPT");
  if (value == NULL || strcmp(value, "0") == 0)
    return 0;
  return strcmp(value, "1") == 0 ? 1 : -1;
}
