/* LD_PRELOAD: a damaged file system, whose folders list a name without a file. SHARDS_LOST is the
 * path. A program that tries to open it without end is aborted. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_ATTEMPTS = 1000 };

static bool is_lost(const char *path) {
  static int attempts;
  const char *lost = getenv("SHARDS_LOST");
  if (lost == NULL || strcmp(path, lost) != 0)
    return false;
  if (++attempts > MOST_ATTEMPTS)
    abort();
  errno = ENOENT;
  return true;
}

/* Without a mode, since shards are only read here. */
int openat64(int folder, const char *path, int flags, ...) {
  int (*real)(int, const char *, int, ...);
  *(void **)&real = dlsym(RTLD_NEXT, "openat64");
  return is_lost(path) ? -1 : real(folder, path, flags);
}

int __openat64_2(int folder, const char *path, int flags) { return openat64(folder, path, flags); }

int lstat64(const char *path, struct stat64 *info) {
  int (*real)(const char *, struct stat64 *);
  *(void **)&real = dlsym(RTLD_NEXT, "lstat64");
  return is_lost(path) ? -1 : real(path, info);
}
