#include "change.h"

#include "names.h"
#include "output.h"
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define RECORD ".gfsmith-shards.change"

static void close_record(change *c) {
  if (c->record >= 0)
    close(c->record); /* and unlock */
  c->record = -1;
}

/* Does the name of the record still lead to the locked file? -1 and errno: unknown. */
static int is_named(const change *c) {
  struct stat own, named;
  if (fstat(c->record, &own) != 0)
    return -1;
  if (fstatat(c->folder, RECORD, &named, AT_SYMLINK_NOFOLLOW) != 0)
    return errno == ENOENT ? 0 : -1;
  return own.st_dev == named.st_dev && own.st_ino == named.st_ino;
}

static int lock(change *c) {
  int named = 0;
  while (named == 0) { /* the run that had the lock may have removed the record meanwhile */
    close_record(c);
    c->record = openat(c->folder, RECORD,
                       O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
    if (c->record < 0)
      return refuse("cannot create a file in %s: %s", c->path, strerror(errno));
    bool locked = flock(c->record, LOCK_EX | LOCK_NB) == 0;
    if (!locked && errno == EWOULDBLOCK)
      return refuse("another run is changing %s: run one after the other", c->path);
    named = locked ? is_named(c) : -1;
  }
  return named > 0 ? TOOL_OK : refuse("cannot lock %s/" RECORD ": %s", c->path, strerror(errno));
}

/* Is this an empty file, which rename_new() may have left? */
static bool is_empty(int fd) {
  struct stat info;
  return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size == 0;
}

/* Remove a shard of the announced set or an empty file in its place, but no other file of its name.
 * Returns 0, or -1 and errno. */
static int remove_shard(const change *c, unsigned index) {
  char name[SHARD_NAME];
  gfsmith_shards_header found;
  shard_name(name, c->set.name, c->set.generation, index);
  int shard = openat(c->folder, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (shard < 0)
    return errno == ENOENT ? 0 : -1;
  int valid = read_header(shard, &found, NULL), reason = errno;
  bool empty = is_empty(shard);
  close(shard);
  errno = reason;
  if (!empty && (valid <= 0 || !gfsmith_shards_same_set(&found, &c->set)))
    return valid < 0 ? -1 : 0;
  return unlinkat(c->folder, name, 0);
}

/* EINVAL: this file system does not support fsync for folders. */
static int flush(int folder) { return fsync(folder) != 0 && errno != EINVAL ? -1 : 0; }

/* Remove the announced set. Returns 0, or -1 and errno. */
static int roll_back(change *c) {
  int failed = 0, reason = 0;
  for (unsigned i = 0; i < c->set.k + c->set.m; i++)
    if (remove_shard(c, i) != 0) {
      failed = -1;
      reason = errno;
    }
  /* The header must not disappear before the shards. */
  if (!failed && flush(c->folder) == 0 && ftruncate(c->record, 0) == 0) {
    c->announced = false;
    return 0;
  }
  errno = failed ? reason : errno;
  return -1;
}

static int recover(change *c) {
  int found = read_header(c->record, &c->set, NULL);
  if (found < 0) {
    int reason = errno;
    close_record(c); /* and keep it */
    return refuse("cannot read %s/" RECORD ": %s", c->path, strerror(reason));
  }
  c->announced = found > 0;
  if (c->announced && roll_back(c) != 0)
    return refuse("cannot remove the incomplete generation %" PRIu64 " of %s from %s: %s",
                  c->set.generation, c->set.name, c->path, strerror(errno));
  if (found > 0)
    say("%s: the incomplete generation %" PRIu64 " of %s is removed", c->path, c->set.generation,
        c->set.name);
  return TOOL_OK;
}

int change_begin(change *c, const char *folder) {
  *c = CHANGE_NONE;
  c->path = folder;
  c->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (c->folder < 0)
    return refuse("cannot read %s: %s", folder, strerror(errno));
  int status = lock(c);
  if (status == TOOL_OK)
    return recover(c);
  close_record(c); /* another run owns the record */
  return status;
}

int change_announce(change *c, const gfsmith_shards_header *set) {
  uint8_t raw[GFSMITH_SHARDS_HEADER];
  output record = {.fd = c->record};
  gfsmith_shards_header_write(set, raw);
  c->set = *set;
  c->announced = true;
  if (!output_write(&record, raw, sizeof raw))
    return refuse("cannot write %s/" RECORD ": %s", c->path, strerror(record.error));
  if (fsync(c->record) != 0 || flush(c->folder) != 0)
    return refuse("cannot write %s/" RECORD ": %s", c->path, strerror(errno));
  return TOOL_OK;
}

int change_commit(change *c) {
  if (flush(c->folder) != 0)
    return refuse("cannot flush %s: %s", c->path, strerror(errno));
  if (unlinkat(c->folder, RECORD, 0) != 0)
    return refuse("cannot remove %s/" RECORD ": %s", c->path, strerror(errno));
  c->announced = false;
  c->complete = true;
  close_record(c);
  if (flush(c->folder) == 0)
    return TOOL_OK;
  return refuse("cannot make generation %" PRIu64 " permanent in %s: %s", c->set.generation,
                c->path, strerror(errno));
}

void change_end(change *c) {
  if (c->record >= 0 && (!c->announced || roll_back(c) == 0))
    unlinkat(c->folder, RECORD, 0);
  close_record(c);
  if (c->folder >= 0)
    close(c->folder);
  c->folder = -1;
}

/* The message names a folder that cannot be entered, because users do not know the record. */
static int refuse_record(const char *folder, const char *path, int reason) {
  bool entered = access(folder, X_OK) == 0;
  return refuse("cannot read %s: %s", entered ? path : folder, strerror(reason));
}

int change_incomplete(const char *folder, gfsmith_shards_header *set, bool *found) {
  char *path = path_join(folder, RECORD);
  int record = open_input(path);
  int valid = record >= 0                           ? read_header(record, set, NULL)
              : errno == ENOENT || errno == ENOTDIR ? 0
                                                    : -1;
  int status = valid < 0 ? refuse_record(folder, path, errno) : TOOL_OK;
  *found = valid > 0;
  if (record >= 0)
    close(record);
  free(path);
  return status;
}
