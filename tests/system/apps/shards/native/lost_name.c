/* LD_PRELOAD: a damaged file system, whose folders list a name without a file. SHARDS_LOST is the
 * last part of its path. SHARDS_LOST_ERROR is the errno, by default that of a missing file. A
 * program that tries to open it without end is aborted. */
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
  const char *lost = getenv("SHARDS_LOST"), *error = getenv("SHARDS_LOST_ERROR");
  const char *slash = strrchr(path, '/');
  if (lost == NULL || strcmp(slash != NULL ? slash + 1 : path, lost) != 0)
    return false;
  if (++attempts > MOST_ATTEMPTS)
    abort();
  errno = error != NULL ? atoi(error) : ENOENT;
  return true;
}

/* Without a mode, since shards are only read here, unless the file is created. */
int openat64(int folder, const char *path, int flags, ...) {
  int (*real)(int, const char *, int, ...);
  *(void **)&real = dlsym(RTLD_NEXT, "openat64");
  return is_lost(path) ? -1 : real(folder, path, flags, 0600);
}

int __openat64_2(int folder, const char *path, int flags) { return openat64(folder, path, flags); }

int lstat64(const char *path, struct stat64 *info) {
  int (*real)(const char *, struct stat64 *);
  *(void **)&real = dlsym(RTLD_NEXT, "lstat64");
  return is_lost(path) ? -1 : real(path, info);
}

int fstatat64(int folder, const char *path, struct stat64 *info, int flags) {
  int (*real)(int, const char *, struct stat64 *, int);
  *(void **)&real = dlsym(RTLD_NEXT, "fstatat64");
  return is_lost(path) ? -1 : real(folder, path, info, flags);
}
