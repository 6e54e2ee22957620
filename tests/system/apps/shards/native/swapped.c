/* LD_PRELOAD: another user exchanges a folder for a symbolic link. Right before the first call of
 * SHARDS_CALL, "chmod" or "remove" of a file `x`, the folder `d` in each temporary folder of the
 * working directory becomes `e`, and `d` a link to SHARDS_VICTIM. */
#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void exchange(const char *call) {
  static bool done;
  const char *wanted = getenv("SHARDS_CALL"), *victim = getenv("SHARDS_VICTIM");
  char other[4096];
  glob_t found;
  if (done || strcmp(program_invocation_short_name, "tar") == 0 || wanted == NULL ||
      victim == NULL || strcmp(call, wanted) != 0 ||
      glob(".gfsmith-shards.tmp.*/d", 0, NULL, &found) != 0)
    return;
  done = true;
  for (size_t i = 0; i < found.gl_pathc; i++) {
    snprintf(other, sizeof other, "%.*se", (int)strlen(found.gl_pathv[i]) - 1, found.gl_pathv[i]);
    if (rename(found.gl_pathv[i], other) != 0 || symlink(victim, found.gl_pathv[i]) != 0)
      abort();
  }
  globfree(&found);
}

static bool is_inside(const char *path) {
  const char *slash = strrchr(path, '/');
  return strcmp(slash != NULL ? slash + 1 : path, "x") == 0;
}

int chmod(const char *path, mode_t mode) {
  int (*real)(const char *, mode_t);
  *(void **)&real = dlsym(RTLD_NEXT, "chmod");
  exchange("chmod");
  return real(path, mode);
}

int remove(const char *path) {
  int (*real)(const char *);
  *(void **)&real = dlsym(RTLD_NEXT, "remove");
  exchange(is_inside(path) ? "remove" : "");
  return real(path);
}

int unlinkat(int folder, const char *name, int flags) {
  int (*real)(int, const char *, int);
  *(void **)&real = dlsym(RTLD_NEXT, "unlinkat");
  exchange(is_inside(name) ? "remove" : "");
  return real(folder, name, flags);
}
