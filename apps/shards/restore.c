/* gfsmith-shards restore: the original from its shards, to a file, a folder or stdout. */
#include "archive.h"
#include "commands.h"
#include "json.h"
#include "output.h"
#include "report.h"
#include "scan.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct restore {
  shard_set set;
  output out;  /* of a file */
  archive tar; /* of a folder */
  char *temp_folder;
  bool done; /* the target is complete */
  int error; /* errno of a failed write */
} restore;

/* Is the target one of the shards? */
static bool is_shard(const shard_set *set, const struct stat *info) {
  struct stat other;
  for (size_t i = 0; i < set->count; i++)
    if (stat(set->files[i].path, &other) == 0 && other.st_dev == info->st_dev &&
        other.st_ino == info->st_ino)
      return true;
  return false;
}

static int check_target(const shard_set *set, const options *opt) {
  struct stat info;
  bool folder = set->header.content == GFSMITH_SHARDS_TAR;
  if (lstat(opt->output, &info) != 0)
    return path_check_name(opt->output); /* other errors are those of the temporary file */
  if (folder)
    return refuse("%s already exists; a folder is restored to a new path", opt->output);
  if (!S_ISREG(info.st_mode))
    return refuse(S_ISDIR(info.st_mode)   ? "%s is a folder; -o names the file to write"
                  : S_ISLNK(info.st_mode) ? "%s is a symbolic link; -o names the file itself"
                                          : "%s is not a regular file",
                  opt->output);
  if (!opt->force)
    return refuse("%s already exists (--force replaces it)", opt->output);
  if (is_shard(set, &info))
    return refuse("%s is one of the shards", opt->output);
  return TOOL_OK;
}

/* The message for a failure of the library or of writing. */
static int failure(const restore *job, const char *target, int status) {
  if (status == GFSMITH_SHARDS_EWRITE && !report_interrupted())
    return refuse("cannot write %s: %s", target, strerror(job->error));
  if (status == GFSMITH_SHARDS_EDAMAGED)
    return refuse("%s: the restored bytes do not have the checksum of the original", target);
  return set_refuse(&job->set, status);
}

static int restore_file(restore *job, const options *opt) {
  gfsmith_shards_sink sink = {output_write, &job->out};
  const rights given = rights_like(job->set.first->path, &job->set.first->info);
  int status = output_plan(&job->out, must_copy(opt->output), opt->force);
  if (status == TOOL_OK)
    status = output_open(&job->out, 1, &given);
  if (status != TOOL_OK)
    return status;
  status = scan_join(&job->set, opt, &sink);
  job->error = job->out.error;
  if (status != GFSMITH_OK)
    return failure(job, opt->output, status);
  status = output_commit(&job->out, 1);
  job->done = job->out.done;
  return status;
}

typedef struct pipe_end {
  restore *job;
  int fd;
} pipe_end;

static bool write_pipe(void *context, const void *bytes, size_t size) {
  pipe_end *end = context;
  bool good = write_all(end->fd, bytes, size);
  if (!good)
    end->job->error = errno;
  return good;
}

static int restore_stdout(restore *job, const options *opt) {
  pipe_end end = {job, STDOUT_FILENO};
  gfsmith_shards_sink sink = {write_pipe, &end};
  int status = scan_join(&job->set, opt, &sink);
  return status == GFSMITH_OK ? TOOL_OK : failure(job, "standard output", status);
}

static int extract(restore *job, const options *opt) {
  int status = archive_extract(&job->tar, job->temp_folder);
  if (status != TOOL_OK)
    return status;
  pipe_end end = {job, job->tar.fd};
  gfsmith_shards_sink sink = {write_pipe, &end};
  status = scan_join(&job->set, opt, &sink);
  if (status == GFSMITH_SHARDS_EWRITE) { /* tar has ended: its message has the reason */
    status = archive_finish(&job->tar);
    return status == TOOL_OK ? failure(job, opt->output, GFSMITH_SHARDS_EWRITE) : status;
  }
  if (status != GFSMITH_OK)
    return failure(job, opt->output, status);
  return archive_finish(&job->tar);
}

static int restore_folder(restore *job, const options *opt) {
  char *parent = path_folder(opt->output);
  job->temp_folder = path_join(parent, ".gfsmith-shards.tmp.XXXXXX");
  int status = TOOL_OK;
  if (mkdtemp(job->temp_folder) == NULL) {
    status = refuse("cannot create a folder in %s: %s", parent, strerror(errno));
    free(job->temp_folder);
    job->temp_folder = NULL;
  }
  if (status == TOOL_OK)
    status = extract(job, opt);
  if (status == TOOL_OK && report_interrupted())
    status = TOOL_REFUSED;
  if (status == TOOL_OK)
    status = output_flush_tree(job->temp_folder);
  if (status == TOOL_OK && rename_new(AT_FDCWD, job->temp_folder, opt->output) != 0)
    status = refuse("cannot create %s: %s", opt->output, strerror(errno));
  if (status == TOOL_OK) {
    free(job->temp_folder);
    job->temp_folder = NULL;
    job->done = true;
    status = output_flush_folder(AT_FDCWD, parent);
  }
  free(parent);
  return status;
}

static int restore_run(restore *job, const options *opt) {
  shard_set *set = &job->set;
  bool to_stdout = strcmp(opt->output, "-") == 0;
  if (to_stdout)
    report_mute();
  if (to_stdout && opt->json)
    return refuse("restore: --json needs standard output, which -o - uses");
  int status = set_open(set, opt->paths, opt->count);
  if (status == TOOL_OK && !to_stdout)
    status = check_target(set, opt);
  if (status != TOOL_OK)
    return status;
  status = to_stdout                                   ? restore_stdout(job, opt)
           : set->header.content == GFSMITH_SHARDS_TAR ? restore_folder(job, opt)
                                                       : restore_file(job, opt);
  if (job->done) {
    say("%s: %" PRIu64 " bytes, checksum as recorded", opt->output, set->report.length);
    set_say_others(set);
    if (opt->json)
      json_set("restore", "restored", set);
  }
  return status;
}

int command_restore(const options *opt) {
  restore *job = must_alloc(1, sizeof *job);
  job->tar = ARCHIVE_NONE;
  int status = restore_run(job, opt);
  archive_abort(&job->tar);
  set_close(&job->set); /* the removal of a folder needs descriptors */
  if (job->temp_folder != NULL)
    remove_folder(job->temp_folder);
  free(job->temp_folder);
  output_discard(&job->out, 1);
  free(job);
  return status;
}
