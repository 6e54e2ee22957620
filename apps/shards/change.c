#include "change.h"

#include "medium.h"
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
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#define RECORD ".gfsmith-shards.change"

/* File systems without a device whose locks hold for all that may change them: those of one machine
 * (tmpfs, ramfs, btrfs, overlayfs, eCryptfs, UBIFS, ZFS, bcachefs) and those whose servers lock
 * (NFS, CIFS, SMB, Ceph, AFS). man 2 statfs, and the sources of ZFS and bcachefs. */
static const uint32_t common_locks[] = {
    0x01021994, 0x858458f6, 0x9123683e, 0x794c7630, 0xf15f,     0x24051905, 0x2fc12fc1,
    0xca451a4e, 0x6969,     0xff534d42, 0xfe534d42, 0x00c36400, 0x5346414f, 0x6b414653,
};

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

/* Open the record that an interrupted run has left (*left), or a new one. */
static int open_record(change *c, bool *left) {
  do {
    c->record = openat(c->folder, RECORD, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    *left = c->record < 0 && errno == EEXIST;
    if (*left)
      c->record = open_at(c->folder, RECORD, O_RDWR | O_NOFOLLOW);
  } while (*left && c->record < 0 && errno == ENOENT);
  return c->record >= 0 ? TOOL_OK
                        : refuse("cannot create a file in %s: %s", c->path, strerror(errno));
}

/* *named: the run that had the lock has not removed the record meanwhile. */
static int lock(change *c, bool *named) {
  bool locked = flock(c->record, LOCK_EX | LOCK_NB) == 0;
  if (!locked && errno == EWOULDBLOCK)
    return refuse("another run is changing %s: run one after the other", c->path);
  int known = locked ? is_named(c) : -1;
  *named = known > 0;
  return known >= 0 ? TOOL_OK : refuse("cannot lock %s/" RECORD ": %s", c->path, strerror(errno));
}

/* Read the header of a record and the owner of its shards. Returns whether it announces a set, or
 * -1 and errno. A shard, which is longer, is no record: its name may be a hard link. */
static int read_record(int record, gfsmith_shards_header *set, uid_t *owner) {
  struct stat info = {0};
  int valid = fstat(record, &info) == 0 ? read_header(record, set, NULL) : -1;
  *owner = info.st_uid;
  return valid > 0 && info.st_size > GFSMITH_SHARDS_HEADER ? 0 : valid;
}

/* A read that fails once is no damage. */
static int read_twice(int shard, gfsmith_shards_header *found) {
  int valid = read_header(shard, found, NULL);
  return valid < 0 && medium_failed(errno) ? read_header(shard, found, NULL) : valid;
}

/* The file with the name of a shard of the announced set. */
typedef struct place {
  char name[SHARD_NAME];
  bool known; /* `info` is */
  struct stat info;
  int valid; /* of read_header */
  gfsmith_shards_header found;
} place;

/* Returns whether the file is there, with errno of its header, or -1 and errno. */
static int look(const change *c, unsigned index, place *at) {
  *at = (place){.valid = -1};
  shard_name(at->name, c->set.name, c->set.generation, index);
  int shard = open_at(c->folder, at->name, O_RDONLY);
  if (shard < 0)
    return is_absent(errno) ? 0 : -1;
  at->known = fstat(shard, &at->info) == 0;
  if (at->known)
    at->valid = read_twice(shard, &at->found);
  int reason = errno;
  close(shard);
  errno = reason;
  return 1;
}

/* Remove a shard of the announced set or an empty file in its place, but no other file of its name,
 * nor one of another user than the record, nor, after an interrupted run, one whose header the
 * device cannot read, as with a damaged header. Returns whether such a shard stays, or -1 and
 * errno. */
static int remove_shard(const change *c, unsigned index) {
  place at;
  int there = look(c, index, &at);
  if (there <= 0)
    return there;
  if (at.valid < 0)
    return c->left && at.known && medium_failed(errno) ? 1 : -1;
  /* An empty file is as rename_new() may have left it. */
  bool empty = S_ISREG(at.info.st_mode) && at.info.st_size == 0;
  if (!empty && !(at.valid > 0 && gfsmith_shards_same_set(&at.found, &c->set)))
    return 0;
  return at.info.st_uid != c->owner ? 1 : unlinkat(c->folder, at.name, 0);
}

/* EINVAL: this file system does not support fsync for folders. */
static int flush(int folder) { return fsync(folder) != 0 && errno != EINVAL ? -1 : 0; }

/* Remove the announced set. Returns the number of shards that stay, or -1 and errno. */
static int roll_back(change *c) {
  int stay = 0, failed = 0, reason = 0;
  for (unsigned i = 0; i < c->set.k + c->set.m; i++) {
    int one = remove_shard(c, i);
    if (one < 0) {
      failed = -1;
      reason = errno;
    } else {
      c->named = false;
    }
    stay += one > 0;
  }
  /* The header must not disappear before the shards. */
  if (!failed && flush(c->folder) == 0 && ftruncate(c->record, 0) == 0) {
    c->announced = false;
    return stay;
  }
  errno = failed ? reason : errno;
  return -1;
}

/* Is this shard of the announced set there, with the owner of the record? One with a damaged header
 * counts by its name, if it has the size of the others, 0 before that is known. -1 and errno:
 * unknown. */
static int find_shard(const change *c, unsigned index, off_t *size) {
  place at;
  int there = look(c, index, &at);
  if (there <= 0)
    return there;
  if (!at.known || (at.valid < 0 && !medium_failed(errno)))
    return -1;
  bool own = at.info.st_uid == c->owner;
  if (at.valid <= 0)
    return own && *size != 0 && at.info.st_size == *size;
  if (!own || at.found.index != index || !gfsmith_shards_same_set(&at.found, &c->set))
    return 0;
  *size = at.info.st_size;
  return 1;
}

/* All shards of a set had their bytes before the record named it, so it is complete if all have
 * their names. -1 and errno: unknown. */
static int is_whole(const change *c) {
  off_t size = 0;
  int whole = 0;
  for (unsigned pass = 0; pass < 2 && whole == 0; pass++) { /* the first one finds the size */
    whole = 1;
    for (unsigned i = 0; i < c->set.k + c->set.m && whole >= 0; i++) {
      int one = find_shard(c, i, &size);
      whole = one < 0 ? -1 : whole && one;
    }
  }
  return whole;
}

/* Remove a record that names a set. A hard link to it, as in a backup, must not name it any more.
 */
static int remove_record(const change *c) {
  int failed = unlinkat(c->folder, RECORD, 0);
  int linked = failed ? 0 : ftruncate(c->record, 0);
  (void)linked; /* without it the set counts, too */
  return failed;
}

/* Remove the record of an interrupted run, and its set unless that is whole. This run gets a record
 * of its own, since the shards have the owner of their record. */
static int recover(change *c) {
  c->left = true;
  int found = read_record(c->record, &c->set, &c->owner);
  if (found < 0)
    return refuse("cannot read %s/" RECORD ": %s", c->path, strerror(errno));
  int whole = found > 0 ? is_whole(c) : 0;
  if (whole < 0 || (whole > 0 && flush(c->folder) != 0))
    return refuse("cannot complete generation %" PRIu64 " of %s in %s: %s", c->set.generation,
                  c->set.name, c->path, strerror(errno));
  int stay = found > 0 && whole == 0 ? roll_back(c) : 0;
  c->left = false;
  if (stay < 0)
    return refuse("cannot remove the incomplete generation %" PRIu64 " of %s from %s: %s",
                  c->set.generation, c->set.name, c->path, strerror(errno));
  /* Without a set it may be a hard link to any file, which must not be emptied. */
  if ((found > 0 ? remove_record(c) : unlinkat(c->folder, RECORD, 0)) != 0)
    return refuse("cannot remove %s/" RECORD ": %s", c->path, strerror(errno));
  if (found > 0 && stay == 0)
    say("%s: the %s generation %" PRIu64 " of %s %s", c->path, whole ? "interrupted" : "incomplete",
        c->set.generation, c->set.name, whole ? "is complete" : "is removed");
  return TOOL_OK;
}

/* May another machine change this folder without a look at the locks of this one? File systems such
 * as sshfs and 9p have locks of their own in each machine. */
static bool may_be_remote(const change *c) {
  struct statfs system;
  struct stat info;
  if (fstatfs(c->folder, &system) != 0 || fstat(c->folder, &info) != 0 || major(info.st_dev) != 0)
    return false;
  for (size_t i = 0; i < sizeof common_locks / sizeof common_locks[0]; i++)
    if ((uint32_t)system.f_type == common_locks[i])
      return false;
  return true;
}

/* A record without a lock: that of an interrupted run, unless its run is on another machine. */
static int take_over(change *c) {
  return may_be_remote(c)
             ? refuse(
                   "a run on another machine is changing %s, or one was interrupted: if there is "
                   "none any more, remove %s/" RECORD,
                   c->path, c->path)
             : recover(c);
}

int change_begin(change *c, const char *folder) {
  bool left = true, named = false;
  int status = TOOL_OK;
  *c = CHANGE_NONE;
  c->path = folder;
  c->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (c->folder < 0)
    return refuse("cannot read %s: %s", folder, strerror(errno));
  while (status == TOOL_OK && (left || !named)) {
    close_record(c);
    status = open_record(c, &left);
    if (status == TOOL_OK)
      status = lock(c, &named);
    if (status == TOOL_OK && left && named)
      status = take_over(c);
  }
  if (status != TOOL_OK)
    close_record(c); /* and keep it */
  return status;
}

int change_announce(change *c, const gfsmith_shards_header *set) {
  uint8_t raw[GFSMITH_SHARDS_HEADER];
  output record = {.fd = c->record};
  struct stat info;
  gfsmith_shards_header_write(set, raw);
  if (fstat(c->record, &info) != 0)
    return refuse("cannot read %s/" RECORD ": %s", c->path, strerror(errno));
  c->set = *set;
  c->owner = info.st_uid;
  c->announced = true;
  if (!output_write(&record, raw, sizeof raw))
    return refuse("cannot write %s/" RECORD ": %s", c->path, strerror(record.error));
  if (fsync(c->record) != 0 || flush(c->folder) != 0)
    return refuse("cannot write %s/" RECORD ": %s", c->path, strerror(errno));
  return TOOL_OK;
}

int change_commit(change *c) {
  c->named = true;
  if (flush(c->folder) != 0)
    return refuse("cannot flush %s: %s", c->path, strerror(errno));
  if (remove_record(c) != 0)
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
  if (c->record >= 0 && (!c->announced || roll_back(c) >= 0))
    unlinkat(c->folder, RECORD, 0);
  c->complete |= c->announced && c->named;
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

int change_incomplete(const char *folder, gfsmith_shards_header *set, uid_t *owner, bool *found) {
  char *path = path_join(folder, RECORD);
  int record = open_at(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW);
  bool none = record < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP);
  int valid = record >= 0 ? read_record(record, set, owner) : none ? 0 : -1;
  int status = valid < 0 ? refuse_record(folder, path, errno) : TOOL_OK;
  *found = valid > 0;
  if (record >= 0)
    close(record);
  free(path);
  return status;
}
