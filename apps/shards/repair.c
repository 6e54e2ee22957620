/* gfsmith-shards repair: writes every missing or damaged shard again. */
#include "change.h"
#include "commands.h"
#include "json.h"
#include "medium.h"
#include "output.h"
#include "report.h"
#include "scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct repair {
  shard_set set;
  output outs[GFSMITH_MAX_SHARDS];
  unsigned index[GFSMITH_MAX_SHARDS]; /* shard of each output */
  unsigned count;
  change *changes; /* of the folders that are changed */
  size_t change_count;
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

/* Only a shard that the medium has damaged is replaced, not one that this run may not open, or for
 * which it has no memory. */
static int check_judged(const shard_set *set) {
  for (unsigned i = 0; i < set->shards; i++) {
    int error = set->given[i] != NULL ? set->given[i]->error : 0;
    if (error != 0 && error != ENOENT && !medium_failed(error))
      return refuse("cannot read %s: %s; it may be intact", set_path(set, i), strerror(error));
  }
  return TOOL_OK;
}

/* The path of the shard that is written. Through a symbolic link, only a shard of this set is
 * replaced: the link may be that of another user. NULL after a message. */
static char *target_path(const shard_set *set, unsigned index) {
  const shard_file *file = set->given[index];
  const char *path = set_path(set, index);
  struct stat info;
  if (lstat(path, &info) != 0 || !S_ISLNK(info.st_mode))
    return must_copy(path);
  char *target = file != NULL && file->why == NULL ? realpath(path, NULL) : NULL;
  if (target == NULL)
    refuse("%s is a symbolic link to no shard of this set: remove it, or name the shard", path);
  return target;
}

/* After this, no memory is allocated with must_alloc. */
static int plan_targets(repair *job) {
  int status = TOOL_OK;
  job->changes = must_alloc(job->set.shards + job->set.incomplete_count, sizeof *job->changes);
  for (unsigned i = 0; i < job->set.shards && status == TOOL_OK; i++) {
    if (set_intact(&job->set, i))
      continue;
    bool exists = job->set.given[i] != NULL && job->set.given[i]->error != ENOENT;
    char *path = target_path(&job->set, i);
    if (path == NULL)
      return TOOL_REFUSED;
    status = output_plan(&job->outs[job->count], path, exists);
    job->index[job->count++] = i;
  }
  return status;
}

static int lock_folder(repair *job, const char *folder) {
  struct stat wanted, locked;
  bool known = stat(folder, &wanted) == 0;
  for (size_t i = 0; i < job->change_count && known; i++)
    if (fstat(job->changes[i].folder, &locked) == 0 && locked.st_dev == wanted.st_dev &&
        locked.st_ino == wanted.st_ino)
      return TOOL_OK;
  return change_begin(&job->changes[job->change_count++], folder);
}

static int lock_folders(repair *job) {
  int status = TOOL_OK;
  for (unsigned n = 0; n < job->count && status == TOOL_OK; n++)
    status = lock_folder(job, job->outs[n].folder);
  for (size_t i = 0; i < job->set.incomplete_count && status == TOOL_OK; i++)
    status = lock_folder(job, job->set.incomplete[i].folder);
  return status;
}

/* The shards must be those that were verified before the folders were locked. */
static int check_unchanged(const shard_set *set) {
  for (unsigned i = 0; i < set->shards; i++) {
    struct stat now = {0};
    const shard_file *file = set->given[i];
    if (file == NULL)
      continue;
    stat(file->path, &now);
    if (!file_unchanged(&file->info, &now))
      return refuse("%s changed while it was read", file->path);
  }
  return TOOL_OK;
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

/* Find out which shards are to be written. */
static int examine(repair *job, const options *opt) {
  int found = GFSMITH_OK;
  int status = set_open(&job->set, opt->paths, opt->count);
  if (status == TOOL_OK)
    status = check_targets(&job->set);
  if (status == TOOL_OK)
    status = scan(&job->set, opt, &found);
  if (status == TOOL_OK)
    status = check_repairable(&job->set, found);
  if (status == TOOL_OK)
    status = check_judged(&job->set);
  if (status == TOOL_OK)
    set_say_bad(&job->set);
  return status == TOOL_OK ? plan_targets(job) : status;
}

/* A missing shard gets the permissions of another one. */
static int open_outputs(repair *job) {
  int status = TOOL_OK;
  for (unsigned n = 0; n < job->count && status == TOOL_OK; n++) {
    const output *out = &job->outs[n];
    const shard_file *old = out->replace ? job->set.given[job->index[n]] : job->set.first;
    rights given = rights_again(old->path, &old->info);
    status = output_open(&job->outs[n], 1, &given);
  }
  return status;
}

static int write_targets(repair *job, const options *opt) {
  int status = lock_folders(job);
  if (status == TOOL_OK)
    status = check_unchanged(&job->set);
  if (status == TOOL_OK)
    status = open_outputs(job);
  if (status == TOOL_OK && job->count > 0)
    status = rebuild(job, opt);
  return status == TOOL_OK ? output_commit(job->outs, job->count) : status;
}

static int repair_run(repair *job, const options *opt) {
  const shard_set *set = &job->set;
  int status = examine(job, opt);
  if (status == TOOL_OK)
    status = write_targets(job, opt);
  if (status == TOOL_OK && job->count == 0)
    say("%s: all %u shards are intact, nothing to repair", set->header.name, set->shards);
  for (unsigned n = 0; n < job->count && job->outs[n].done; n++)
    say("%s: rebuilt", set_path(set, job->index[n]));
  if (status == TOOL_OK && opt->json)
    json_set("repair", job->count > 0 ? "repaired" : "intact", set);
  return status;
}

int command_repair(const options *opt) {
  repair *job = must_alloc(1, sizeof *job);
  int status = repair_run(job, opt);
  output_discard(job->outs, GFSMITH_MAX_SHARDS);
  for (size_t i = 0; i < job->change_count; i++)
    change_end(&job->changes[i]);
  free(job->changes);
  set_close(&job->set);
  free(job);
  return status;
}
