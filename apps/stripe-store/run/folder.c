#include "run.h"

#include "common/report.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEY_BYTES = 32, SOCKET_PATH_MAX = 107 - 20 };

static bool has_key(const char *folder) {
  char path[FILES_PATH];
  return files_path(path, folder, "key") && access(path, F_OK) == 0;
}

static bool make_key(const char *folder) {
  uint8_t key[KEY_BYTES];
  char text[2 * KEY_BYTES + 2];
  if (has_key(folder))
    return true;
  randombytes_buf(key, sizeof key);
  sodium_bin2hex(text, sizeof text, key, sizeof key);
  strcat(text, "\n");
  bool done = files_write(folder, "key", text, 0600) == FILES_WRITTEN;
  sodium_memzero(text, sizeof text);
  sodium_memzero(key, sizeof key);
  if (!done)
    report("cannot write %s/key: %s", folder, strerror(errno));
  return done;
}

/* Write the number of this process into the locked file, for people. */
static bool sign(int fd) {
  char text[24];
  int bytes = snprintf(text, sizeof text, "%ld\n", (long)getpid());
  return ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)bytes, 0) == bytes;
}

/* A record lock: F_GETLK returns the process that holds it, and does not take it. */
static int lock(const char *folder) {
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  char path[FILES_PATH];
  if (!files_path(path, folder, "store.lock"))
    return -1;
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  bool taken = fd >= 0 && fcntl(fd, F_SETLK, &whole) == 0;
  if (fd < 0)
    report("cannot open %s: %s", path, strerror(errno));
  else if (!taken && (errno == EAGAIN || errno == EACCES))
    report("%s: a store runs in it already", folder);
  else if (!taken || !sign(fd))
    report("cannot write %s: %s", path, strerror(errno));
  else
    return fd;
  if (fd >= 0)
    close(fd);
  return -1;
}

/* Put the name of a folder on disk, before anything that must survive a power cut is in it. */
static bool flush_name(const char *folder) {
  char path[FILES_PATH];
  return files_above(path, folder) && files_flush(path);
}

/* Create the folder if it is missing. A process that made an older one may have been killed before
 * its name was on disk; it has no key then. */
static bool make_folder(const char *folder, bool *created) {
  if (strlen(folder) > SOCKET_PATH_MAX) {
    report("%s: at most %d bytes, because of the Unix sockets in it", folder, SOCKET_PATH_MAX);
    return false;
  }
  *created = mkdir(folder, 0700) == 0;
  const bool there = *created || errno == EEXIST;
  if (there && (has_key(folder) || flush_name(folder) || !*created))
    return files_guarded(folder);
  report("cannot create %s: %s", folder, strerror(errno));
  return false;
}

bool folder_make(const char *folder) {
  bool created;
  return make_folder(folder, &created) && make_key(folder);
}

int folder_take(const char *folder, bool *created) {
  int fd = make_folder(folder, created) ? lock(folder) : -1;
  if (fd < 0 && *created)
    rmdir(folder);
  return fd;
}

bool disk_path(char path[FILES_PATH], const char *folder, unsigned rank) {
  char name[16];
  snprintf(name, sizeof name, "disk-%u", rank);
  return files_path(path, folder, name);
}

/* A link into a file system that is not mounted counts. */
static bool has_disk(const char *folder, unsigned rank) {
  char path[FILES_PATH];
  struct stat info;
  return disk_path(path, folder, rank) && lstat(path, &info) == 0;
}

bool folder_durable(const char *folder) {
  for (unsigned rank = 1; rank <= LAYOUT_SHARDS_MAX; rank++)
    if (has_disk(folder, rank))
      return true;
  return false;
}

bool folder_had_disk(const char *folder, unsigned rank) {
  return folder_formed(folder) && has_disk(folder, rank);
}

bool folder_guarded_disks(const char *folder, unsigned nodes) {
  char path[FILES_PATH];
  for (unsigned rank = 1; rank <= nodes; rank++)
    if (disk_path(path, folder, rank) && !files_guarded(path))
      return false;
  return true;
}

/* Remove a file. Did it exist? */
static bool drop(const char *folder, const char *name) {
  char path[FILES_PATH];
  return files_path(path, folder, name) && unlink(path) == 0;
}

void folder_clean(const char *folder, unsigned nodes) {
  char name[32];
  drop(folder, "agent");
  drop(folder, "client");
  drop(folder, FILES_LOCAL);
  drop(folder, "agent.lock");
  for (unsigned rank = 1; rank <= nodes; rank++) {
    snprintf(name, sizeof name, "memcached-%u", rank);
    drop(folder, name);
  }
}

/* Remove the files of a chunk server, and its folder. */
static void remove_disk(const char *folder, unsigned rank) {
  static const char *const names[] = {"chunks", "chunks-wal", "place", "lock"};
  char path[FILES_PATH];
  if (!disk_path(path, folder, rank))
    return;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    drop(path, names[i]);
  rmdir(path);
}

void folder_remove(const char *folder, unsigned nodes) {
  for (unsigned rank = 1; rank <= nodes; rank++)
    remove_disk(folder, rank);
  drop(folder, "key");
  drop(folder, "agent.lock");
  drop(folder, "store.lock");
  rmdir(folder);
}

bool folder_forget(const char *folder) { return drop(folder, "group"); }

bool folder_formed(const char *folder) {
  char path[FILES_PATH];
  return files_path(path, folder, "group") && access(path, F_OK) == 0;
}

bool folder_retire(const char *folder) {
  char from[FILES_PATH], to[FILES_PATH];
  return files_path(from, folder, "group") && files_path(to, folder, "group.old") &&
         rename(from, to) == 0;
}

bool folder_ours(const char *folder, int lock) {
  char path[FILES_PATH];
  struct stat locked, there;
  return files_path(path, folder, "store.lock") && fstat(lock, &locked) == 0 &&
         stat(path, &there) == 0 && locked.st_dev == there.st_dev && locked.st_ino == there.st_ino;
}

pid_t folder_holder(const char *folder) {
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  char path[FILES_PATH];
  int fd = files_path(path, folder, "store.lock") ? open(path, O_RDWR | O_CLOEXEC) : -1;
  bool held = fd >= 0 && fcntl(fd, F_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
  if (fd >= 0)
    close(fd);
  return held && whole.l_pid > 0 ? whole.l_pid : 0;
}
