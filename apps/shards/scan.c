#include "scan.h"

#include "control.h"
#include "report.h"

typedef struct pass {
  const char *label;
  const gfsmith_shards_sink *original, *sinks;
} pass;

static int run(shard_set *set, const options *opt, pass how) {
  control call;
  int status;
  set_rewind(set);
  control_begin(&call, how.label, set_length(set), opt);
  if (how.original != NULL)
    status = gfsmith_shards_join(set->sources, set->source_count, how.original, &call.shards,
                                 &set->report);
  else if (how.sinks != NULL)
    status = gfsmith_shards_repair(set->sources, set->source_count, how.sinks, &call.shards,
                                   &set->report);
  else
    status = gfsmith_shards_verify(set->sources, set->source_count, &call.shards, &set->report);
  if (status == GFSMITH_OK)
    progress_set(&call.bar, call.bar.total);
  control_end(&call);
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
