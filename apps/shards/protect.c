/* gfsmith-shards protect: a file, a folder or stdin as k + m shards. */
#include "archive.h"
#include "change.h"
#include "codes.h"
#include "commands.h"
#include "control.h"
#include "json.h"
#include "medium.h"
#include "names.h"
#include "output.h"
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct protect {
  const char *source; /* path, or "-" */
  char *folder;       /* of the shards */
  bool made_folder;
  change change;
  char kept[SHARD_NAME]; /* the first file of an old generation that could not be removed */
  int kept_error;
  int input;
  int error; /* errno of a failed read */
  bool is_tar;
  archive tar;
  struct stat info;
  rights given; /* to the shards */
  gfsmith_shards_header header;
  unsigned shards;
  uint64_t length;
  output outs[GFSMITH_MAX_SHARDS];
} protect;

static int open_source(protect *job) {
  if (strcmp(job->source, "-") == 0) {
    job->input = STDIN_FILENO;
    job->given = rights_private();
    return TOOL_OK;
  }
  job->input = open_input(job->source);
  if (job->input < 0)
    return refuse("cannot open %s: %s", job->source, strerror(errno));
  if (fstat(job->input, &job->info) != 0)
    return refuse("cannot read %s: %s", job->source, strerror(errno));
  job->is_tar = S_ISDIR(job->info.st_mode);
  job->given = job->is_tar ? rights_private() : rights_like(job->source, &job->info);
  if (!job->is_tar && !S_ISREG(job->info.st_mode))
    return refuse("%s is neither a regular file nor a folder (- protects standard input)",
                  job->source);
  return TOOL_OK;
}

/* The last part of the source's path; of "." and "..", that of the folder's own path. */
static int default_name(const protect *job, char *name, size_t size) {
  char *whole = NULL;
  const char *source = job->source;
  if (strcmp(source, "-") == 0)
    source = "stdin";
  else if (job->is_tar && (whole = realpath(source, NULL)) == NULL)
    return refuse("cannot read %s: %s", source, strerror(errno));
  snprintf(name, size, "%s", path_last(whole != NULL ? whole : source));
  free(whole);
  return TOOL_OK;
}

static int fill_header(protect *job, const options *opt) {
  gfsmith_shards_header *h = &job->header;
  char name[sizeof h->name];
  h->k = opt->k;
  h->m = opt->m;
  h->l = opt->l;
  h->block = opt->block;
  h->content = job->is_tar ? GFSMITH_SHARDS_TAR : GFSMITH_SHARDS_BYTES;
  h->generation = 1;
  if (getrandom(h->set_id, sizeof h->set_id, 0) != (ssize_t)sizeof h->set_id)
    return refuse("cannot get random bytes: %s", strerror(errno));
  snprintf(h->code, sizeof h->code, "%s", opt->code);
  if (opt->name == NULL && default_name(job, name, sizeof name) != TOOL_OK)
    return TOOL_REFUSED;
  /* A name that is too long fills its field without a terminating NUL, which makes it invalid. */
  snprintf(h->name, sizeof h->name, "%s", opt->name != NULL ? opt->name : name);
  const char *fault = gfsmith_shards_header_fault(h);
  if (fault == NULL && h->name[0] == '\0')
    fault = "the name of the original is empty";
  if (fault != NULL)
    return refuse("cannot protect %s as \"%s\": %s (-n NAME gives another)", job->source,
                  opt->name != NULL ? opt->name : name, fault);
  job->shards = h->k + h->m;
  return TOOL_OK;
}

/* Creates the folder if it is missing; its parent must exist. */
static int make_folder(protect *job) {
  struct stat info;
  if (stat(job->folder, &info) == 0)
    return S_ISDIR(info.st_mode) ? TOOL_OK
                                 : refuse("cannot write to %s: it is not a folder", job->folder);
  if (errno != ENOENT)
    return refuse("cannot write to %s: %s", job->folder, strerror(errno));
  char *parent = path_join(job->folder, "..");
  job->made_folder = mkdir(job->folder, 0777) == 0;
  int status = job->made_folder
                   ? output_flush_folder(AT_FDCWD, parent)
                   : refuse("cannot create the folder %s: %s%s", job->folder, strerror(errno),
                            errno == ENOENT ? " (its parent folder must exist)" : "");
  free(parent);
  return status;
}

/* Is an open folder this one, or below it? The paths do not tell: a file system may ignore case,
 * and a folder may be mounted twice. Closes it. */
static bool is_within(int at, const struct stat *around) {
  struct stat here = {0}, last = {0};
  bool within = false, top = false;
  while (at >= 0 && fstat(at, &here) == 0 && !within && !top) {
    within = here.st_dev == around->st_dev && here.st_ino == around->st_ino;
    top = here.st_dev == last.st_dev && here.st_ino == last.st_ino;
    last = here;
    int up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    close(at);
    at = up;
  }
  if (at >= 0)
    close(at);
  return within;
}

/* An archive must not contain its own shards. */
static int check_outside(const protect *job) {
  char *parent = path_folder(job->folder);
  const char *nearest = path_exists(job->folder) ? job->folder : parent;
  bool inside =
      job->is_tar && is_within(open(nearest, O_PATH | O_DIRECTORY | O_CLOEXEC), &job->info);
  free(parent);
  return inside ? refuse("%s is inside %s: choose another", job->folder, job->source) : TOOL_OK;
}

/* named: the generation in the file's name, 0 if that is not the name of a shard of this original.
 */
typedef int visit(protect *job, const char *file, uint64_t named);

typedef struct walk {
  protect *job;
  visit *each;
} walk;

static int visit_shard(void *context, const char *file) {
  const walk *all = context;
  uint64_t named;
  unsigned index;
  if (!shard_name_ends(file))
    return TOOL_OK;
  if (!shard_name_parse(file, all->job->header.name, &named, &index))
    named = 0;
  return all->each(all->job, file, named);
}

/* Call `each` with the files in the folder whose names end like those of shards. */
static int walk_folder(protect *job, visit *each) {
  walk all = {job, each};
  int status = folder_each(job->change.folder, visit_shard, &all);
  return status >= 0 ? status : refuse("cannot read %s: %s", job->folder, strerror(errno));
}

/* Read the header of a file in the folder; *found: it has one. Files that the user may not read
 * have none, nor those that the device cannot read, as with damaged headers. */
static int examine(const protect *job, const char *file, gfsmith_shards_header *header,
                   bool *found) {
  int fd = open_at(job->change.folder, file, O_RDONLY);
  int valid = fd >= 0 ? read_header(fd, header, NULL) : 0, reason = errno;
  bool none = fd >= 0 ? valid >= 0 || reason == EISDIR || reason == ESPIPE
                      : reason == EACCES || reason == ENOENT || reason == ENXIO;
  *found = valid > 0;
  if (fd >= 0)
    close(fd);
  return none || medium_failed(reason)
             ? TOOL_OK
             : refuse("cannot read %s/%s: %s", job->folder, file, strerror(reason));
}

/* The generation in the header counts, since the file may have been renamed, and that in its name.
 */
static int raise_generation(protect *job, const char *file, uint64_t named) {
  gfsmith_shards_header header;
  bool found;
  int status = examine(job, file, &header, &found);
  if (status != TOOL_OK)
    return status;
  uint64_t generation = named;
  if (found && strcmp(header.name, job->header.name) == 0 && header.generation > named)
    generation = header.generation;
  if (generation == GFSMITH_SHARDS_MAX_GENERATION)
    return refuse("%s/%s has the highest generation", job->folder, file);
  if (generation >= job->header.generation)
    job->header.generation = generation + 1;
  return TOOL_OK;
}

/* Shards of another original, which have been renamed, stay. A file that cannot be removed keeps no
 * others. */
static int remove_old(protect *job, const char *file, uint64_t named) {
  gfsmith_shards_header header;
  bool found;
  if (named == 0 || named >= job->header.generation)
    return TOOL_OK;
  int status = examine(job, file, &header, &found);
  if (status != TOOL_OK || (found && strcmp(header.name, job->header.name) != 0))
    return status;
  bool failed = unlinkat(job->change.folder, file, 0) != 0 && errno != ENOENT;
  if (failed && job->kept[0] == '\0') {
    job->kept_error = errno;
    snprintf(job->kept, sizeof job->kept, "%s", file);
  }
  return TOOL_OK;
}

static int remove_generations(protect *job) {
  int status = walk_folder(job, remove_old);
  return status == TOOL_OK && job->kept[0] != '\0'
             ? refuse("cannot remove %s/%s: %s", job->folder, job->kept, strerror(job->kept_error))
             : status;
}

static int open_outputs(protect *job, const options *opt) {
  if (strcmp(job->folder, "-") == 0)
    return refuse("shards are not written to standard output; allowed: a folder, such as ./-");
  int status = check_outside(job);
  if (status == TOOL_OK)
    status = make_folder(job);
  if (status == TOOL_OK)
    status = change_begin(&job->change, job->folder);
  if (status == TOOL_OK)
    status = walk_folder(job, raise_generation);
  if (status == TOOL_OK && job->header.generation > 1 && !opt->force)
    status = refuse("%s already has shards of %s (--force protects the next generation)",
                    job->folder, job->header.name);
  for (unsigned i = 0; i < job->shards && status == TOOL_OK; i++) {
    char name[SHARD_NAME];
    shard_name(name, job->header.name, job->header.generation, i);
    status = output_plan(&job->outs[i], path_try_join(job->folder, name), false);
  }
  if (status == TOOL_OK)
    status = output_open(job->outs, job->shards, &job->given);
  return status == TOOL_OK && job->is_tar ? archive_create(&job->tar, job->source) : status;
}

static ptrdiff_t read_source(void *context, void *to, size_t size) {
  protect *job = context;
  ssize_t n = job->is_tar                  ? read_some(job->tar.fd, to, size)
              : job->input == STDIN_FILENO ? read_some(job->input, to, size)
                                           : read_at(job->input, to, size, job->length);
  if (n < 0)
    job->error = errno;
  else
    job->length += (uint64_t)n;
  return n;
}

static int encode(protect *job, const options *opt) {
  gfsmith_shards_sink sinks[GFSMITH_MAX_SHARDS] = {0};
  gfsmith_shards_source source = {read_source, NULL, job, -1};
  control call;
  /* Again, since the change record may have been a link to the file. */
  if (file_state(job->input, &job->info) != 0)
    return refuse("cannot read %s: %s", job->source, strerror(errno));
  for (unsigned i = 0; i < job->shards; i++)
    sinks[i] = (gfsmith_shards_sink){output_write, &job->outs[i]};
  control_begin(&call, "protect", S_ISREG(job->info.st_mode) ? (uint64_t)job->info.st_size : 0,
                opt);
  int status = gfsmith_shards_split(&job->header, &source, sinks, &call.shards, NULL);
  control_end(&call);
  if (status == GFSMITH_OK)
    return job->is_tar ? archive_finish(&job->tar) : TOOL_OK;
  if (report_interrupted())
    return TOOL_REFUSED;
  if (status == GFSMITH_SHARDS_EREAD)
    return refuse("cannot read %s: %s", job->source, strerror(job->error));
  if (status == GFSMITH_SHARDS_EWRITE)
    return output_failure(job->outs, job->shards);
  return refuse("cannot protect %s: %s", job->source, gfsmith_shards_strerror(status));
}

static int check_unchanged(const protect *job) {
  struct stat info;
  if (!S_ISREG(job->info.st_mode))
    return TOOL_OK;
  /* Standard input may begin at another byte than the first one. */
  bool whole = job->input == STDIN_FILENO || (uint64_t)job->info.st_size == job->length;
  if (whole && file_state(job->input, &info) == 0 && file_unchanged(&job->info, &info))
    return TOOL_OK;
  return refuse("%s changed while it was read", job->source);
}

/* Give the shards their names and complete the set. */
static int publish(protect *job) {
  int status = output_flush(job->outs, job->shards);
  if (status == TOOL_OK)
    status = change_announce(&job->change, &job->header);
  if (status == TOOL_OK)
    status = output_publish(job->outs, job->shards);
  return status == TOOL_OK ? change_commit(&job->change) : status;
}

static void report(const protect *job, const options *opt) {
  say("%s: %u shards in %s, generation %" PRIu64, job->header.name, job->shards, job->folder,
      job->header.generation);
  if (opt->json)
    json_protected(&job->header, job->length, job->folder);
}

static int protect_run(protect *job, const options *opt) {
  int status = codes_check(opt);
  if (status == TOOL_OK)
    status = open_source(job);
  if (status == TOOL_OK)
    status = fill_header(job, opt);
  if (status == TOOL_OK)
    status = open_outputs(job, opt);
  if (status == TOOL_OK)
    status = encode(job, opt);
  if (status == TOOL_OK)
    status = check_unchanged(job);
  if (status == TOOL_OK)
    status = publish(job);
  if (job->change.complete)
    report(job, opt);
  return status == TOOL_OK ? remove_generations(job) : status;
}

int command_protect(const options *opt) {
  protect *job = must_alloc(1, sizeof *job);
  job->source = opt->paths[0];
  job->folder = must_copy(opt->paths[1]);
  job->input = -1;
  job->tar = ARCHIVE_NONE;
  job->change = CHANGE_NONE;
  int status = protect_run(job, opt);
  archive_abort(&job->tar);
  output_discard(job->outs, GFSMITH_MAX_SHARDS);
  bool reported = job->change.complete;
  change_end(&job->change);
  if (job->change.complete && !reported)
    report(job, opt); /* the run could not undo it */
  if (status != TOOL_OK && job->made_folder)
    rmdir(job->folder); /* refused by the system if shards are in it */
  if (job->input > STDIN_FILENO)
    close(job->input);
  free(job->folder);
  free(job);
  return status;
}
