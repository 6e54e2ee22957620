#include "scan.h"

#include "progress.h"
#include "report.h"
#include "workers.h"

typedef struct pass {
  const char *label;
  const gfsmith_shards_sink *original, *sinks;
} pass;

static int run(shard_set *set, const options *opt, pass how) {
  progress bar;
  workers *pool = workers_start(opt->threads);
  gfsmith_shards_control control = {
      .run = pool != NULL ? workers_run : NULL,
      .run_context = pool,
      .progress = progress_set,
      .progress_context = &bar,
  };
  int status;
  set_rewind(set);
  progress_begin(&bar, how.label, set_length(set), opt->quiet);
  if (how.original != NULL)
    status =
        gfsmith_shards_join(set->sources, set->source_count, how.original, &control, &set->report);
  else if (how.sinks != NULL)
    status =
        gfsmith_shards_repair(set->sources, set->source_count, how.sinks, &control, &set->report);
  else
    status = gfsmith_shards_verify(set->sources, set->source_count, &control, &set->report);
  if (status == GFSMITH_OK)
    progress_set(&bar, bar.total);
  progress_end(&bar);
  workers_stop(pool);
  return status;
}

int scan(shard_set *set, const options *opt, int *status) {
  *status = run(set, opt, (pass){.label = "verify"});
  if (report_interrupted())
    return TOOL_REFUSED;
  if (*status == GFSMITH_OK || *status == GFSMITH_SHARDS_EDAMAGED)
    return TOOL_OK;
  return set_refuse(set, *status);
}

int scan_repair(shard_set *set, const options *opt, const gfsmith_shards_sink *sinks) {
  return run(set, opt, (pass){.label = "repair", .sinks = sinks});
}

int scan_join(shard_set *set, const options *opt, const gfsmith_shards_sink *original) {
  return run(set, opt, (pass){.label = "restore", .original = original});
}
