/* gfsmith-shards par2 repair: writes every missing or damaged file again. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "json.h"
#include "medium.h"
#include "output.h"
#include "par2_decode.h"
#include "par2_hash.h"
#include "par2_verify.h"
#include "report.h"

enum {
  WRONG_MD5 = -2,         /* PAR2_SHORTER is another one */
  DESCRIPTORS_LEFT = 256, /* for standard streams, threads and parents */
  PARENTS_MAX = 64,       /* open ones */
  FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
};

/* A folder that was created. */
typedef struct made_folder {
  char *name;
  int parent; /* open, to remove the folder even if no file can be opened any more; -1: not open */
} made_folder;

typedef struct par2_job {
  par2_set set;
  par2_found found;
  output *outs;   /* of the files that are written */
  size_t *files;  /* the file of each output */
  char **kept;    /* of each output: the new path of a damaged file; NULL: none */
  size_t *out_of; /* of each file: its output; SIZE_MAX: none */
  size_t count;   /* of outputs */
  int *folders;   /* open folders of outputs */
  size_t folder_count;
  control call;
  made_folder *made;
  size_t made_count;
  par2_decoding *decoding;
  int *errors; /* of each output: of its copy or check; WRONG_MD5 */
} par2_job;

/* Create a folder, whose name, below the folder of the set, the job then owns. *made: it did not
 * exist. */
static int make_folder(par2_job *job, int parent, char *name, bool *made) {
  const char *last = path_last(name);
  *made = mkdirat(parent, last, 0777) == 0;
  if (!*made) {
    int reason = errno;
    int status =
        reason == EEXIST ? TOOL_OK : refuse("cannot create %s: %s", name, strerror(reason));
    free(name);
    return status;
  }
  job->made[job->made_count++] = (made_folder){name, -1};
  return TOOL_OK;
}

/* Create one of the folders around a file, make it permanent, and open it instead of its parent. */
static int enter_folder(par2_job *job, const char *part, int *at) {
  const char *last = path_last(part);
  char *name = strdup(part);
  made_folder *all = realloc(job->made, (job->made_count + 1) * sizeof *all);
  bool made;
  if (all != NULL)
    job->made = all;
  if (name == NULL || all == NULL) {
    free(name);
    return refuse("out of memory");
  }
  int status = make_folder(job, *at, name, &made);
  int inner = status == TOOL_OK ? openat(*at, last, FOLDER) : -1;
  if (status == TOOL_OK && inner < 0)
    status = refuse("cannot open %s: %s", part, strerror(errno));
  if (status == TOOL_OK && made)
    status = output_flush_folder(*at, part);
  if (made && job->made_count <= PARENTS_MAX)
    job->made[job->made_count - 1].parent = *at;
  else
    close(*at);
  *at = inner;
  return status;
}

/* Create the folders of an output below the folder of the set, none of which is a symbolic link.
 * The last one stays open: the output is written there, even if its path leads elsewhere meanwhile.
 */
static int make_folders(par2_job *job, size_t n) {
  if (strlen(job->outs[n].final_path) >= PATH_MAX)
    return refuse("cannot create %s: %s", job->outs[n].folder, strerror(ENAMETOOLONG));
  char *part = strdup(job->set.files[job->files[n]].name);
  int at = open(job->set.folder, FOLDER & ~O_NOFOLLOW), status = TOOL_OK;
  if (part == NULL)
    status = refuse("out of memory");
  else if (at < 0)
    status = refuse("cannot open %s: %s", job->set.folder, strerror(errno));
  for (char *slash = part; status == TOOL_OK && (slash = strchr(slash, '/')) != NULL; slash++) {
    *slash = '\0';
    status = enter_folder(job, part, &at);
    *slash = '/';
  }
  free(part);
  if (at >= 0)
    job->folders[job->folder_count++] = at;
  if (status == TOOL_OK)
    job->outs[n].at = at;
  return status;
}

/* The folder of an output; outputs of one folder share it. */
static int open_folder(par2_job *job, size_t n) {
  for (size_t other = 0; other < n; other++)
    if (strcmp(job->outs[other].folder, job->outs[n].folder) == 0) {
      job->outs[n].at = job->outs[other].at;
      return TOOL_OK;
    }
  return make_folders(job, n);
}

static bool is_file_of_set(const par2_set *set, const char *name) {
  for (size_t f = 0; f < set->file_count; f++)
    if (strcmp(set->files[f].name, name) == 0)
      return true;
  return false;
}

/* The bytes of a name that fit into the name of a file before `end`, without a part of a character
 * of UTF-8. */
static size_t cut_length(const char *name, const char *end) {
  const char *last = path_last(name);
  size_t length = strlen(last), most = NAME_MAX - strlen(end);
  if (length > most)
    for (length = most; length > 1 && ((unsigned char)last[length] & 0xc0) == 0x80;)
      length--;
  return (size_t)(last - name) + length;
}

static bool is_kept(const par2_job *job, const char *path) {
  for (size_t n = 0; n < job->count; n++)
    if (job->kept[n] != NULL && strcmp(job->kept[n], path) == 0)
      return true;
  return false;
}

/* The path of "NAME.1", or of the next number that is free; a long name is cut. NULL: no memory. */
static char *free_path(const par2_job *job, size_t n) {
  const par2_set *set = &job->set;
  const char *name = set->files[job->files[n]].name;
  size_t start = strlen(job->outs[n].final_path) - strlen(name), size = start + strlen(name) + 24;
  char *path = malloc(size), end[24];
  struct stat info;
  unsigned number = 1;
  if (path == NULL)
    return NULL;
  do {
    snprintf(end, sizeof end, ".%u", number++);
    snprintf(path, size, "%.*s%.*s%s", (int)start, job->outs[n].final_path,
             (int)cut_length(name, end), name, end);
  } while (fstatat(job->outs[n].at, output_name(&job->outs[n], path), &info, AT_SYMLINK_NOFOLLOW) ==
               0 ||
           is_file_of_set(set, path + start) || is_kept(job, path));
  return path;
}

/* A file whose name this file system refuses, or whose inode the device cannot read, keeps all
 * others from being replaced. */
static int check_name(const par2_set *set, size_t f) {
  int fd = par2_open_below(set->folder, set->files[f].name, O_RDONLY), reason = errno;
  if (fd >= 0)
    close(fd);
  bool refused = fd < 0 && reason != ENOENT && (is_absent(reason) || medium_failed(reason));
  return refused ? refuse("cannot create %s: %s", set->files[f].name, strerror(reason)) : TOOL_OK;
}

static int plan_output(par2_job *job, size_t f) {
  if (check_name(&job->set, f) != TOOL_OK)
    return TOOL_REFUSED;
  char *path = path_join(job->set.folder, job->set.files[f].name);
  bool exists = job->found.states[f] == PAR2_DAMAGED;
  int status = output_plan(&job->outs[job->count], path, exists);
  job->files[job->count] = f;
  job->out_of[f] = job->count++;
  return status;
}

/* A file of the set on disk, and its folder. */
typedef struct entry {
  struct stat file, folder;
  const char *name;
} entry;

static int compare_inodes(const struct stat *x, const struct stat *y) {
  if (x->st_dev != y->st_dev)
    return x->st_dev < y->st_dev ? -1 : 1;
  return x->st_ino == y->st_ino ? 0 : x->st_ino < y->st_ino ? -1 : 1;
}

static int compare_entries(const void *a, const void *b) {
  const entry *x = a, *y = b;
  int order = compare_inodes(&x->file, &y->file);
  if (order == 0)
    order = compare_inodes(&x->folder, &y->folder);
  return order != 0 ? order : strcmp(path_last(x->name), path_last(y->name));
}

/* Open the folder of a file of the set, or return -1. */
static int open_parent(const par2_set *set, const char *name) {
  const char *slash = strrchr(name, '/');
  if (slash == NULL)
    return open(set->folder, FOLDER & ~O_NOFOLLOW);
  char parent[PAR2_MOST_NAME + 1];
  snprintf(parent, sizeof parent, "%.*s", (int)(slash - name), name);
  return par2_open_below(set->folder, parent, O_RDONLY | O_DIRECTORY);
}

/* Return whether the file exists. */
static bool find_entry(const par2_set *set, const char *name, entry *found) {
  *found = (entry){.name = name};
  int fd = par2_open_below(set->folder, name, O_RDONLY), folder = open_parent(set, name);
  bool exists = fd >= 0 && fstat(fd, &found->file) == 0;
  if (fd >= 0)
    close(fd);
  if (folder >= 0) {
    fstat(folder, &found->folder);
    close(folder);
  }
  return exists;
}

static int is_last(void *context, const char *listed) {
  const char *const *name = context;
  return strcmp(path_last(*name), listed) == 0;
}

/* Does the folder of a file list it with this name, and not with one that is the same to the file
 * system? */
static bool is_listed(const par2_set *set, const char *name) {
  int folder = open_parent(set, name);
  bool listed = folder < 0 || folder_each(folder, is_last, &name) != 0;
  if (folder >= 0)
    close(folder);
  return listed;
}

/* Are two names of one file the same name to the file system, and no hard links? */
static bool is_same_name(const par2_set *set, const entry *one, const entry *other) {
  if (one->file.st_nlink == 1)
    return true;
  return compare_inodes(&one->folder, &other->folder) == 0 &&
         (strcmp(path_last(one->name), path_last(other->name)) == 0 || !is_listed(set, one->name) ||
          !is_listed(set, other->name));
}

/* In a file system that ignores case, for example, two names can be one file: the repair of one
 * would overwrite the other. */
static int check_distinct(const par2_set *set) {
  entry *all = must_alloc(set->file_count, sizeof *all);
  size_t count = 0;
  int status = TOOL_OK;
  for (size_t f = 0; f < set->file_count; f++)
    count += find_entry(set, set->files[f].name, &all[count]);
  qsort(all, count, sizeof *all, compare_entries);
  for (size_t i = 1; i < count && status == TOOL_OK; i++)
    if (compare_inodes(&all[i - 1].file, &all[i].file) == 0 &&
        is_same_name(set, &all[i - 1], &all[i]))
      status = refuse("%s: %s and %s are the same file to this file system", set->name,
                      all[i - 1].name, all[i].name);
  free(all);
  return status;
}

static void raise_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

/* May all outputs be open at once, with their folders, and the files that are read? */
static bool may_open_all(const par2_job *job) {
  struct rlimit limit;
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
         job->count + job->folder_count + DESCRIPTORS_LEFT <= limit.rlim_cur;
}

static int plan(par2_job *job) {
  const par2_set *set = &job->set;
  size_t most = par2_unsound(&job->found);
  int status = TOOL_OK;
  if (!par2_determined(&job->found))
    return refuse("%s: %zu blocks are lost, and %zu recovery blocks exist", set->name,
                  job->found.lost, set->recovery_count);
  job->outs = must_alloc(most, sizeof *job->outs);
  job->files = must_alloc(most, sizeof *job->files);
  job->kept = must_alloc(most, sizeof *job->kept);
  job->errors = must_alloc(most, sizeof *job->errors);
  job->folders = must_alloc(most, sizeof *job->folders);
  job->out_of = must_alloc(set->file_count, sizeof *job->out_of);
  for (size_t f = 0; f < set->file_count && status == TOOL_OK; f++) {
    job->out_of[f] = SIZE_MAX;
    if (job->found.states[f] != PAR2_INTACT && set->files[f].first != SIZE_MAX)
      status = plan_output(job, f);
  }
  raise_limit();
  return status == TOOL_OK ? check_distinct(set) : status;
}

/* The permissions of missing files: those that all PAR2 files of the set have. */
static rights rights_of_missing(const par2_set *set) {
  rights given = rights_new();
  for (size_t i = 0; i < set->packets.path_count; i++) {
    struct stat info;
    const char *path = set->packets.paths[i];
    if (!set->packets.foreign[i] && stat(path, &info) == 0)
      rights_narrow(&given, path, &info);
  }
  return given;
}

/* Open temporary files, with the permissions of the damaged files. */
static int open_outputs(par2_job *job) {
  int status = TOOL_OK;
  bool all = may_open_all(job);
  const rights missing = rights_of_missing(&job->set);
  for (size_t n = 0; n < job->count && status == TOOL_OK; n++) {
    struct stat info;
    const output *out = &job->outs[n];
    bool exists = job->kept[n] != NULL && fstatat(out->at, output_name(out, out->final_path), &info,
                                                  AT_SYMLINK_NOFOLLOW) == 0;
    rights given = exists ? rights_again(out->final_path, &info) : missing;
    status = output_open(&job->outs[n], 1, &given);
    if (status == TOOL_OK && !all)
      status = output_rest(&job->outs[n]);
  }
  return status;
}

/* Write bytes of a block to the output of its file. */
static bool put_block(void *context, size_t block, uint64_t at, const uint8_t *bytes, size_t size) {
  const par2_job *job = context;
  size_t f = par2_file_of(&job->set, block);
  uint64_t start = (block - job->set.files[f].first) * job->set.block;
  return output_write_at(&job->outs[job->out_of[f]], bytes, size, start + at);
}

static bool copy_block(par2_job *job, size_t f, size_t block) {
  uint8_t piece[PAR2_PIECE];
  const par2_place *place = &job->found.places[block];
  uint64_t length = par2_length_of(&job->set, f, block);
  int fd = par2_open_source(&job->found, place->source);
  bool good = fd >= 0;
  for (uint64_t at = 0; at < length && good;) {
    size_t size = length - at < PAR2_PIECE ? (size_t)(length - at) : PAR2_PIECE;
    uint64_t left = place->size > at ? place->size - at : 0;
    size_t there = left < size ? (size_t)left : size;
    errno = 0;
    memset(piece + there, 0, size - there);
    good = read_at(fd, piece, there, place->start + at) == (ssize_t)there &&
           put_block(job, block, at, piece, size);
    at += size;
  }
  int reason = errno;
  if (fd >= 0)
    close(fd);
  errno = reason;
  return good;
}

/* Copy the blocks of a file that were found somewhere. */
static void copy_task(void *context, unsigned n) {
  par2_job *job = context;
  size_t f = job->files[n];
  const par2_file *file = &job->set.files[f];
  job->errors[n] = 0;
  for (size_t i = 0; i < file->count && job->errors[n] == 0; i++)
    if (job->found.places[file->first + i].source != SIZE_MAX &&
        !copy_block(job, f, file->first + i))
      job->errors[n] = par2_read_error();
}

/* Compare the MD5 of a written file. */
static void check_task(void *context, unsigned n) {
  par2_job *job = context;
  const par2_file *file = &job->set.files[job->files[n]];
  uint8_t digest[MD5_BYTES];
  md5 sum;
  md5_begin(&sum);
  errno = 0;
  int fd = output_use(&job->outs[n]);
  bool read = fd >= 0 && par2_hash_range(fd, 0, file->length, &sum);
  job->errors[n] = read ? 0 : par2_read_error();
  output_end_use(&job->outs[n], fd);
  md5_end(&sum, digest);
  if (read && memcmp(digest, file->md5, MD5_BYTES) != 0)
    job->errors[n] = WRONG_MD5;
}

static int run_tasks(par2_job *job, const options *opt, void (*task)(void *, unsigned)) {
  control_begin(&job->call, "files", 0, &(options){.threads = opt->threads, .quiet = true});
  control_run(&job->call, (unsigned)job->count, task, job);
  control_end(&job->call);
  if (report_interrupted())
    return TOOL_REFUSED;
  for (size_t n = 0; n < job->count; n++) {
    const char *path = job->outs[n].final_path;
    if (job->errors[n] == WRONG_MD5)
      return refuse("%s: the rebuilt file does not have its MD5: a file changed meanwhile, or the "
                    "recovery blocks are wrong",
                    path);
    if (job->errors[n] != 0)
      return refuse("cannot rebuild %s: %s", path, par2_reason(job->errors[n]));
  }
  return TOOL_OK;
}

/* Give a damaged file a second name, which remains. */
static int keep_damaged(const par2_job *job) {
  for (size_t n = 0; n < job->count; n++) {
    const output *out = &job->outs[n];
    const char *path = out->final_path;
    if (job->kept[n] == NULL)
      continue;
    const char *from = output_name(out, path), *to = output_name(out, job->kept[n]);
    if (linkat(out->at, from, out->at, to, 0) != 0 && rename_new(out->at, from, to) != 0)
      return refuse("cannot keep %s as %s: %s", path, job->kept[n], strerror(errno));
    say("%s: kept as %s", path, job->kept[n]);
  }
  return TOOL_OK;
}

/* Make these names permanent before other files get the old ones: a loss of power could keep the
 * latter change only. */
static int flush_kept(const par2_job *job) {
  int status = TOOL_OK, last = -1;
  for (size_t n = 0; n < job->count && status == TOOL_OK; n++)
    if (job->kept[n] != NULL && job->outs[n].at != last) {
      last = job->outs[n].at;
      status = output_flush_folder(last, job->outs[n].folder);
    }
  return status;
}

/* Everything that allocates memory. Without memory, the folders that were created are removed. */
static int prepare(par2_job *job, const options *opt) {
  int status = TOOL_OK;
  if (job->found.lost > 0)
    status = par2_decode_begin(&job->decoding, &job->found, opt);
  for (size_t n = 0; n < job->count && status == TOOL_OK; n++)
    status = open_folder(job, n);
  for (size_t n = 0; n < job->count && status == TOOL_OK; n++) /* no name of a new folder */
    if (job->outs[n].replace && (job->kept[n] = free_path(job, n)) == NULL)
      status = refuse("out of memory");
  return status;
}

static int rebuild(par2_job *job, const options *opt) {
  int status = open_outputs(job);
  if (status == TOOL_OK)
    status = run_tasks(job, opt, copy_task);
  if (status == TOOL_OK && job->found.lost > 0)
    status = par2_decode_run(job->decoding, put_block, job);
  if (status == TOOL_OK)
    status = run_tasks(job, opt, check_task);
  if (status == TOOL_OK)
    status = output_flush(job->outs, job->count);
  if (status == TOOL_OK)
    status = keep_damaged(job);
  if (status == TOOL_OK)
    status = flush_kept(job);
  return status == TOOL_OK ? output_settle(job->outs, job->count) : status;
}

/* Remove the folders that were created and are empty, the last one first. */
static void remove_folders(par2_job *job) {
  while (job->made_count > 0) {
    char *name = job->made[--job->made_count].name;
    int parent = job->made[job->made_count].parent;
    if (parent < 0)
      parent = open_parent(&job->set, name);
    if (parent >= 0) {
      unlinkat(parent, path_last(name), AT_REMOVEDIR);
      close(parent);
    }
    free(name);
  }
}

/* Free the job, and remove the temporary files and the folders that are empty. */
static void free_job(par2_job *job) {
  output_discard(job->outs, job->count);
  remove_folders(job);
  for (size_t n = 0; n < job->folder_count; n++)
    close(job->folders[n]);
  free(job->folders);
  free(job->made);
  par2_decode_end(job->decoding);
  for (size_t n = 0; n < job->count; n++)
    free(job->kept[n]);
  free(job->outs);
  free(job->files);
  free(job->kept);
  free(job->errors);
  free(job->out_of);
  par2_found_free(&job->found);
  par2_set_free(&job->set);
  free(job);
}

/* Nothing protects some files that a set of another program lists. */
static int refuse_unprotected(const par2_job *job) {
  size_t count = par2_unprotected(&job->found);
  return count == 0 ? TOOL_OK
                    : refuse("%s: damaged or missing files without recovery blocks: %zu",
                             job->set.name, count);
}

int command_par2_repair(const options *opt) {
  par2_job *job = must_alloc(1, sizeof *job);
  int status = par2_examine(&job->set, &job->found, opt);
  if (status == TOOL_OK && par2_unsound(&job->found) > 0) {
    status = plan(job);
    if (status == TOOL_OK)
      status = prepare(job, opt);
    if (status == TOOL_OK)
      status = rebuild(job, opt);
    for (size_t n = 0; n < job->count && job->outs[n].done; n++)
      say("%s: rebuilt", job->outs[n].final_path);
    if (status == TOOL_OK)
      status = refuse_unprotected(job);
  }
  if (status == TOOL_OK && opt->json)
    json_par2("par2 repair", job->count > 0 ? "repaired" : "intact", &job->set, &job->found,
              job->set.recovery_count);
  free_job(job);
  return status;
}
