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

#define RECORD CHANGE_RECORD

/* File systems of this machine without a device: tmpfs, ramfs, btrfs, overlayfs, eCryptfs, UBIFS,
 * ZFS, bcachefs. man 2 statfs, and the sources of ZFS and bcachefs. */
static const uint32_t of_machine[] = {0x01021994, 0x858458f6, 0x9123683e, 0x794c7630,
                                      0xf15f,     0x24051905, 0x2fc12fc1, 0xca451a4e};
/* Those whose servers lock: NFS, CIFS, SMB, Ceph, AFS. */
static const uint32_t of_server[] = {0x6969,     0xff534d42, 0xfe534d42,
                                     0x00c36400, 0x5346414f, 0x6b414653};

/* The programs for which the locks of a file system hold: all of this machine and clients of its
 * file servers; all clients of a server; those of this machine only, perhaps. */
typedef enum reach { MACHINE, SERVER, UNKNOWN } reach;

static bool has_type(const struct statfs *system, const uint32_t *types, size_t count) {
  bool found = false;
  for (size_t i = 0; i < count; i++)
    found |= (uint32_t)system->f_type == types[i];
  return found;
}

static reach reach_of(const change *c) {
  struct statfs system;
  struct stat info;
  if (fstatfs(c->folder, &system) != 0 || fstat(c->folder, &info) != 0)
    return SERVER;
  if (major(info.st_dev) != 0 ||
      has_type(&system, of_machine, sizeof of_machine / sizeof *of_machine))
    return MACHINE;
  return has_type(&system, of_server, sizeof of_server / sizeof *of_server) ? SERVER : UNKNOWN;
}

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

/* Take the locks of programs on this machine, and those that its file servers take for their
 * clients (lockd, smbd), which do not exclude each other: man 2 fcntl. A client of NFS or SMB has
 * one lock for both. Returns 0, or -1 and errno. */
static int take_locks(const change *c) {
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (flock(c->record, LOCK_EX | LOCK_NB) != 0)
    return -1;
  if (reach_of(c) != MACHINE || fcntl(c->record, F_OFD_SETLK, &whole) == 0)
    return 0;
  bool taken = errno == EAGAIN || errno == EACCES;
  errno = EWOULDBLOCK;
  return taken ? -1 : 0; /* some file systems have no such locks */
}

/* *named: the run that had the lock has not removed the record meanwhile. */
static int lock(change *c, bool *named) {
  bool locked = take_locks(c) == 0;
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

/* A call that fails once is no damage. */
static int open_twice(const change *c, const char *name) {
  int shard = open_at(c->folder, name, O_RDONLY);
  return shard < 0 && medium_failed(errno) ? open_at(c->folder, name, O_RDONLY) : shard;
}

static int stat_twice(const change *c, const char *name, struct stat *info) {
  int failed = fstatat(c->folder, name, info, 0);
  return failed && medium_failed(errno) ? fstatat(c->folder, name, info, 0) : failed;
}

static int read_twice(int shard, gfsmith_shards_header *found) {
  int valid = read_header(shard, found, NULL);
  return valid < 0 && medium_failed(errno) ? read_header(shard, found, NULL) : valid;
}

/* Remove a shard of the announced set or an empty file in its place, but no other file of its name,
 * nor one of another user than the record, nor, after an interrupted run, one that the device
 * cannot open or whose header it cannot read, as with a damaged header. Returns whether such a
 * shard stays, or -1 and errno. */
static int remove_shard(const change *c, unsigned index) {
  char name[SHARD_NAME];
  struct stat info;
  gfsmith_shards_header found;
  shard_name(name, c->set.name, c->set.generation, index);
  int shard = open_twice(c, name);
  if (shard < 0)
    return is_absent(errno) ? 0 : c->left && medium_failed(errno) ? 1 : -1;
  bool known = fstat(shard, &info) == 0;
  int valid = known ? read_twice(shard, &found) : -1, reason = errno;
  close(shard);
  errno = reason;
  if (valid < 0)
    return c->left && known && medium_failed(reason) ? 1 : -1;
  /* An empty file is as rename_new() may have left it. */
  bool empty = S_ISREG(info.st_mode) && info.st_size == 0;
  if (!empty && !(valid > 0 && gfsmith_shards_same_set(&found, &c->set)))
    return 0;
  return info.st_uid != c->owner ? 1 : unlinkat(c->folder, name, 0);
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

/* The files of the announced set in the folder. */
typedef struct traces {
  const change *c;
  bool named[GFSMITH_MAX_SHARDS];   /* by index: a shard, under any name of one */
  bool unnamed[GFSMITH_MAX_SHARDS]; /* by index: a temporary file */
} traces;

/* A file that cannot be opened, or its inode read. Damage counts as that of a header: by the name.
 * Returns 0, or -1 and errno. */
static int trace_unopened(traces *found, const char *name, bool none) {
  int index = shard_name_index(name, &found->c->set);
  if (none)
    return 0;
  if (!medium_failed(errno))
    return -1;
  if (index >= 0)
    found->named[index] = true;
  return 0;
}

/* Note a file of the announced set that has the owner of the record. A shard with a damaged header
 * counts by its name. A file that the run may not open is none. Returns 0, or -1 and errno. */
static int trace(void *context, const char *name) {
  traces *found = context;
  struct stat info;
  gfsmith_shards_header header;
  bool temporary = is_temporary(name);
  if (!temporary && !shard_name_ends(name))
    return 0;
  if (stat_twice(found->c, name, &info) != 0)
    return trace_unopened(found, name, is_absent(errno) || errno == ELOOP);
  if (!S_ISREG(info.st_mode) || info.st_uid != found->c->owner || info.st_size == 0)
    return 0;
  int file = open_twice(found->c, name);
  if (file < 0)
    return trace_unopened(found, name, is_absent(errno) || errno == EACCES);
  int valid = read_twice(file, &header), reason = errno;
  close(file);
  errno = reason;
  if (valid < 0 && !medium_failed(reason))
    return -1;
  int index = shard_name_index(name, &found->c->set);
  if (valid > 0 && gfsmith_shards_same_set(&header, &found->c->set))
    *(temporary ? &found->unnamed[header.index] : &found->named[header.index]) = true;
  else if (valid <= 0 && index >= 0)
    found->named[index] = true;
  return 0;
}

/* Count the shards of the announced set that have names of shards. *interrupted: the last ones are
 * temporary files, since a run gives the names in order. Returns 0, or -1 and errno. */
static int count_shards(const change *c, unsigned *named, bool *interrupted) {
  traces found = {.c = c};
  int failed = folder_each(c->folder, trace, &found);
  *named = 0;
  *interrupted = false;
  for (unsigned i = 0; i < c->set.k + c->set.m; i++) {
    *named += found.named[i];
    *interrupted = !found.named[i] && (*interrupted || found.unnamed[i]);
  }
  return failed;
}

/* Remove a record that names a set. A hard link to it, as in a backup, must not name it any more.
 */
static int remove_record(const change *c) {
  int failed = unlinkat(c->folder, RECORD, 0);
  int linked = failed ? 0 : ftruncate(c->record, 0);
  (void)linked; /* without it the set counts, too */
  return failed;
}

/* Remove the set of an interrupted run: some of its shards are temporary files still. All shards
 * had their bytes before the record named the set, so without such a file the set is complete, or
 * shards were lost or moved since the end of the run, as in a copy of its folder. */
static int settle(change *c) {
  unsigned named, all = c->set.k + c->set.m;
  bool interrupted;
  if (count_shards(c, &named, &interrupted) != 0)
    return refuse("cannot read the shards of generation %" PRIu64 " of %s in %s: %s",
                  c->set.generation, c->set.name, c->path, strerror(errno));
  if (!interrupted && flush(c->folder) != 0)
    return refuse("cannot flush %s: %s", c->path, strerror(errno));
  int stay = interrupted ? roll_back(c) : 0;
  if (stay < 0)
    return refuse("cannot remove the incomplete generation %" PRIu64 " of %s from %s: %s",
                  c->set.generation, c->set.name, c->path, strerror(errno));
  if (interrupted && stay == 0)
    say("%s: the incomplete generation %" PRIu64 " of %s is removed", c->path, c->set.generation,
        c->set.name);
  else if (named == all)
    say("%s: the interrupted generation %" PRIu64 " of %s is complete", c->path, c->set.generation,
        c->set.name);
  else if (!interrupted && named > 0)
    say("%s: generation %" PRIu64 " of %s has %u of %u shards here, which stay", c->path,
        c->set.generation, c->set.name, named, all);
  return TOOL_OK;
}

enum { LOOKS = 20, LOOK_MICROSECONDS = 5000 };

/* Has another program of this machine the record open, such as a file server for a run elsewhere?
 * The locks of that run may hold in its own file system only. The system grants a lease to write
 * only without such a program. Other commands, which read the record, close it soon. */
static bool is_open_elsewhere(const change *c) {
  bool open = reach_of(c) == MACHINE;
  for (unsigned n = 0; n < LOOKS && open && !report_interrupted(); n++) {
    if (n > 0)
      usleep(LOOK_MICROSECONDS);
    open = fcntl(c->record, F_SETLEASE, F_WRLCK) != 0 && errno == EAGAIN;
    fcntl(c->record, F_SETLEASE, F_UNLCK);
  }
  return open;
}

/* Remove the record of an interrupted run. This run gets a record of its own, since the shards have
 * the owner of their record. */
static int recover(change *c) {
  c->left = true;
  int found = read_record(c->record, &c->set, &c->owner);
  if (found < 0)
    return refuse("cannot read %s/" RECORD ": %s", c->path, strerror(errno));
  int status = TOOL_OK;
  if (found > 0 && is_open_elsewhere(c))
    status = refuse("another run is changing %s, since a program such as a file server has "
                    "%s/" RECORD " open: run one after the other",
                    c->path, c->path);
  else if (found > 0)
    status = settle(c);
  c->left = false;
  if (status != TOOL_OK)
    return status;
  /* Without a set it may be a hard link to any file, which must not be emptied. */
  if ((found > 0 ? remove_record(c) : unlinkat(c->folder, RECORD, 0)) != 0)
    return refuse("cannot remove %s/" RECORD ": %s", c->path, strerror(errno));
  return TOOL_OK;
}

/* A record without a lock: that of an interrupted run, unless its run is elsewhere. File systems
 * such as sshfs and 9p have locks of their own in each machine. */
static int take_over(change *c) {
  return reach_of(c) == UNKNOWN
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

/* Has a shard of the announced set its name? It is opened, since a network file system may have
 * cached the name. -1 and errno: unknown. */
static int has_shard(const change *c, unsigned index) {
  char name[SHARD_NAME];
  gfsmith_shards_header found;
  shard_name(name, c->set.name, c->set.generation, index);
  int shard = open_at(c->folder, name, O_RDONLY);
  if (shard < 0)
    return errno == EACCES ? 1 : is_absent(errno) || errno == ESTALE ? 0 : -1;
  int valid = read_twice(shard, &found), reason = errno;
  close(shard);
  errno = reason;
  if (valid < 0)
    return medium_failed(reason) ? 1 : -1;
  return valid > 0 && gfsmith_shards_same_set(&found, &c->set);
}

/* A run elsewhere that does not see the lock of this one may have taken the record over, and
 * removed shards. */
static int check_kept(const change *c) {
  int kept = is_named(c);
  if (kept == 0)
    return refuse("another run has removed %s/" RECORD ": run one after the other", c->path);
  for (unsigned i = 0; i < c->set.k + c->set.m && kept > 0; i++)
    kept = has_shard(c, i);
  if (kept < 0)
    return refuse("cannot read %s: %s", c->path, strerror(errno));
  return kept > 0 ? TOOL_OK
                  : refuse("another run has removed shards of generation %" PRIu64
                           " of %s from %s: run one after the other",
                           c->set.generation, c->set.name, c->path);
}

int change_commit(change *c) {
  c->named = true;
  if (flush(c->folder) != 0)
    return refuse("cannot flush %s: %s", c->path, strerror(errno));
  if (check_kept(c) != TOOL_OK)
    return TOOL_REFUSED;
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
  if (c->record >= 0 && (!c->announced || roll_back(c) >= 0) && is_named(c) != 0)
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
