/* gfsmith-shards repair: writes every missing or damaged shard again. */
#include "commands.h"
#include "json.h"
#include "output.h"
#include "report.h"
#include "scan.h"

#include <errno.h>
#include <stdlib.h>

typedef struct repair {
  shard_set set;
  output outs[GFSMITH_MAX_SHARDS];
  unsigned index[GFSMITH_MAX_SHARDS]; /* shard of each output */
  unsigned count;
} repair;

/* A missing shard must not replace a file that was not named. */
static int check_targets(const shard_set *set) {
  for (unsigned i = 0; i < set->shards; i++)
    if (set->given[i] == NULL && path_exists(set->missing[i]))
      return refuse("%s exists but was not named: name it too", set->missing[i]);
  return TOOL_OK;
}

static int check_repairable(const shard_set *set, int found) {
  if (found != GFSMITH_OK)
    return refuse("%s: the end of the original is unknown, or its checksum does not match",
                  set->header.name);
  if (set->report.lost_stripes > 0)
    return set_refuse(set, GFSMITH_ETOOMANY);
  if (set->report.false_stripes > 0) /* the shards were written with wrong parities */
    return refuse("%s: the parities do not match the data; no shard is damaged", set->header.name);
  return TOOL_OK;
}

static int open_targets(repair *job) {
  for (unsigned i = 0; i < job->set.shards; i++) {
    if (set_intact(&job->set, i))
      continue;
    bool exists = job->set.given[i] != NULL && job->set.given[i]->error != ENOENT;
    output_plan(&job->outs[job->count], set_path(&job->set, i), exists);
    job->index[job->count++] = i;
  }
  return output_open(job->outs, job->count, job->set.first->mode);
}

static int rebuild(repair *job, const options *opt) {
  gfsmith_shards_sink sinks[GFSMITH_MAX_SHARDS] = {0};
  for (unsigned n = 0; n < job->count; n++)
    sinks[job->index[n]] = (gfsmith_shards_sink){output_write, &job->outs[n]};
  int status = scan_repair(&job->set, opt, sinks);
  if (status == GFSMITH_OK)
    return TOOL_OK;
  if (status == GFSMITH_SHARDS_EWRITE && !report_interrupted())
    return output_failure(job->outs, job->count);
  return set_refuse(&job->set, status);
}

static int repair_run(repair *job, const options *opt) {
  shard_set *set = &job->set;
  int found = GFSMITH_OK;
  int status = set_open(set, opt->paths, opt->count);
  if (status == TOOL_OK)
    status = check_targets(set);
  if (status == TOOL_OK)
    status = scan(set, opt, &found);
  if (status == TOOL_OK)
    status = check_repairable(set, found);
  if (status != TOOL_OK)
    return status;
  set_say_bad(set);
  status = open_targets(job);
  if (status == TOOL_OK && job->count > 0)
    status = rebuild(job, opt);
  if (status == TOOL_OK)
    status = output_commit(job->outs, job->count);
  if (status == TOOL_OK && job->count == 0)
    say("%s: all %u shards are intact, nothing to repair", set->header.name, set->shards);
  for (unsigned n = 0; n < job->count && status == TOOL_OK; n++)
    say("%s: rebuilt", set_path(set, job->index[n]));
  if (status == TOOL_OK && opt->json)
    json_set("repair", job->count > 0 ? "repaired" : "intact", set);
  return status;
}

int command_repair(const options *opt) {
  repair *job = must_alloc(1, sizeof *job);
  int status = repair_run(job, opt);
  output_discard(job->outs, GFSMITH_MAX_SHARDS);
  set_close(&job->set);
  free(job);
  return status;
}
