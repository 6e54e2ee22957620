#include "run.h"

#include "common/report.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEY_BYTES = 32, SOCKET_PATH_MAX = 107 - 20 };

static bool make_key(const char *folder) {
  uint8_t key[KEY_BYTES];
  char text[2 * KEY_BYTES + 2], path[FILES_PATH];
  if (files_path(path, folder, "key") && access(path, F_OK) == 0)
    return true;
  randombytes_buf(key, sizeof key);
  sodium_bin2hex(text, sizeof text, key, sizeof key);
  strcat(text, "\n");
  bool done = files_write(folder, "key", text, 0600);
  sodium_memzero(text, sizeof text);
  sodium_memzero(key, sizeof key);
  if (!done)
    report("cannot write %s/key: %s", folder, strerror(errno));
  return done;
}

static int lock(const char *folder) {
  char path[FILES_PATH], text[24];
  if (!files_path(path, folder, "store.lock"))
    return -1;
  int fd = files_lock(folder, "store.lock");
  if (fd < 0) {
    if (errno == EWOULDBLOCK)
      report("%s: a store runs in it already", folder);
    else
      report("cannot open %s: %s", path, strerror(errno));
    return -1;
  }
  int bytes = snprintf(text, sizeof text, "%ld\n", (long)getpid());
  if (ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)bytes, 0) == bytes)
    return fd;
  report("cannot write %s: %s", path, strerror(errno));
  close(fd);
  return -1;
}

/* Create the folder if it is missing. */
static bool make_folder(const char *folder, bool *created) {
  if (strlen(folder) > SOCKET_PATH_MAX) {
    report("%s: at most %d bytes, because of the Unix sockets in it", folder, SOCKET_PATH_MAX);
    return false;
  }
  *created = mkdir(folder, 0700) == 0;
  if (*created || errno == EEXIST)
    return true;
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

bool folder_durable(const char *folder) {
  char path[FILES_PATH];
  struct stat info; /* a link into a file system that is not mounted counts */
  for (unsigned rank = 1; rank <= LAYOUT_SHARDS_MAX; rank++)
    if (disk_path(path, folder, rank) && lstat(path, &info) == 0)
      return true;
  return false;
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

pid_t folder_holder(const char *folder) {
  char path[FILES_PATH], text[FILES_TEXT];
  long pid = 0;
  if (!files_path(path, folder, "store.lock"))
    return 0;
  int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0)
    return 0;
  bool held = flock(fd, LOCK_EX | LOCK_NB) != 0;
  close(fd);
  if (!held || !files_read(folder, "store.lock", text) || sscanf(text, "%ld", &pid) != 1 || pid < 1)
    return 0;
  return (pid_t)pid;
}
