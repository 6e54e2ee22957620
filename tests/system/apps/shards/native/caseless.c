/* LD_PRELOAD: a file system that ignores case, for relative paths that begin with "./", as in tar,
 * and for names without a path: upper-case letters become lower-case ones. */
#include <ctype.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *lower(const char *path, char text[4096]) {
  snprintf(text, 4096, "%s", path);
  for (char *c = text; (strchr(path, '/') == NULL || strncmp(path, "./", 2) == 0) && *c != '\0';
       c++)
    *c = (char)tolower((unsigned char)*c);
  return text;
}

#define REAL(type, name, ...)                                                                      \
  type (*real)(__VA_ARGS__);                                                                       \
  char text[4096];                                                                                 \
  *(void **)&real = dlsym(RTLD_NEXT, name)

int openat(int folder, const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  REAL(int, "openat", int, const char *, int, ...);
  return real(folder, lower(path, text), flags, mode);
}

/* Of programs with _FILE_OFFSET_BITS. */
int openat64(int folder, const char *path, int flags, ...) __attribute__((alias("openat")));

int mkdirat(int folder, const char *path, mode_t mode) {
  REAL(int, "mkdirat", int, const char *, mode_t);
  return real(folder, lower(path, text), mode);
}

int unlinkat(int folder, const char *path, int flags) {
  REAL(int, "unlinkat", int, const char *, int);
  return real(folder, lower(path, text), flags);
}

int fstatat(int folder, const char *path, struct stat *info, int flags) {
  REAL(int, "fstatat", int, const char *, struct stat *, int);
  return real(folder, lower(path, text), info, flags);
}

int fchmodat(int folder, const char *path, mode_t mode, int flags) {
  REAL(int, "fchmodat", int, const char *, mode_t, int);
  return real(folder, lower(path, text), mode, flags);
}

int fchownat(int folder, const char *path, uid_t owner, gid_t group, int flags) {
  REAL(int, "fchownat", int, const char *, uid_t, gid_t, int);
  return real(folder, lower(path, text), owner, group, flags);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
  char other[4096];
  REAL(int, "linkat", int, const char *, int, const char *, int);
  return real(from_folder, lower(from, text), to_folder, lower(to, other), flags);
}

/* Of programs with _FORTIFY_SOURCE. */
int __openat_2(int folder, const char *path, int flags);
int __openat64_2(int folder, const char *path, int flags) __attribute__((alias("__openat_2")));

int __openat_2(int folder, const char *path, int flags) { return openat(folder, path, flags); }

int utimensat(int folder, const char *path, const struct timespec times[2], int flags) {
  REAL(int, "utimensat", int, const char *, const struct timespec *, int);
  return real(folder, lower(path, text), times, flags);
}
