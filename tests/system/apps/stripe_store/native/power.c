/* LD_PRELOAD: records the changes of a process to files, for a model of a disk that loses power
 * (power.py). POWER_LOG names a folder; the record of a process is the file PID in it: a header of
 * four numbers of 8 bytes, then the bytes. A change is recorded before it is made, a flush before
 * (FLUSH) and after (FLUSHED). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WRITE, TRUNCATE, FLUSH, FLUSHED, NAME, UNNAME, NOTE };

static int log_of_process(void) {
  static int fd = -2;
  char path[512];
  const char *folder = getenv("POWER_LOG");
  if (fd == -2 && folder != NULL) {
    snprintf(path, sizeof path, "%s/%d", folder, (int)getpid());
    fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  }
  return fd;
}

static void put(uint64_t type, uint64_t file, uint64_t at, const void *bytes, size_t length) {
  const uint64_t header[] = {type, file, at, length};
  const struct iovec parts[] = {{(void *)header, sizeof header}, {(void *)bytes, length}};
  if (log_of_process() >= 0)
    syscall(SYS_writev, log_of_process(), parts, 2);
}

void power_note(const char *text, size_t length);
void power_note(const char *text, size_t length) { put(NOTE, 0, 0, text, length); }

/* The number of a regular file or a folder; 0: of neither. */
static uint64_t number(int fd) {
  struct stat info;
  return fstat(fd, &info) == 0 && (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode)) ? info.st_ino
                                                                                   : 0;
}

/* POWER_FLUSH: the microseconds that a flush takes. */
static void wait_for_disk(void) {
  const char *time = getenv("POWER_FLUSH");
  if (time != NULL)
    usleep((useconds_t)atoi(time));
}

/* A path through the descriptor of a folder is recorded as that of the folder. */
static void put_path(uint64_t type, uint64_t file, const char *path) {
  static const char descriptors[] = "/proc/self/fd/";
  const char *last = strrchr(path, '/');
  char link[64], whole[8192];
  if (strncmp(path, descriptors, strlen(descriptors)) == 0 && last >= path + strlen(descriptors)) {
    snprintf(link, sizeof link, "%.*s", (int)(last - path), path);
    ssize_t length = readlink(link, whole, sizeof whole / 2);
    if (length > 0) {
      snprintf(whole + length, sizeof whole - (size_t)length, "%s", last);
      path = whole;
    }
  }
  put(type, file, 0, path, strlen(path));
}

static void name(uint64_t file, const char *path) { put_path(NAME, file, path); }

#define REAL(result, symbol, parameters)                                                           \
  result(*real) parameters;                                                                        \
  *(void **)&real = dlsym(RTLD_NEXT, symbol)

#define PWRITE(symbol)                                                                             \
  ssize_t symbol(int fd, const void *bytes, size_t size, off_t at) {                               \
    REAL(ssize_t, #symbol, (int, const void *, size_t, off_t));                                    \
    put(WRITE, number(fd), (uint64_t)at, bytes, size);                                             \
    return real(fd, bytes, size, at);                                                              \
  }
PWRITE(pwrite)
PWRITE(pwrite64)

/* Of files that are written from their beginning on. */
ssize_t write(int fd, const void *bytes, size_t size) {
  uint64_t file = number(fd);
  REAL(ssize_t, "write", (int, const void *, size_t));
  if (file != 0)
    put(WRITE, file, (uint64_t)lseek(fd, 0, SEEK_CUR), bytes, size);
  return real(fd, bytes, size);
}

#define TRUNCATION(symbol)                                                                         \
  int symbol(int fd, off_t size) {                                                                 \
    REAL(int, #symbol, (int, off_t));                                                              \
    put(TRUNCATE, number(fd), (uint64_t)size, NULL, 0);                                            \
    return real(fd, size);                                                                         \
  }
TRUNCATION(ftruncate)
TRUNCATION(ftruncate64)

#define FLUSHING(symbol)                                                                           \
  int symbol(int fd) {                                                                             \
    REAL(int, #symbol, (int));                                                                     \
    put(FLUSH, number(fd), 0, NULL, 0);                                                            \
    wait_for_disk();                                                                               \
    int status = real(fd);                                                                         \
    if (status == 0)                                                                               \
      put(FLUSHED, number(fd), 0, NULL, 0);                                                        \
    return status;                                                                                 \
  }
FLUSHING(fsync)
FLUSHING(fdatasync)

#define OPENING(symbol)                                                                            \
  int symbol(const char *path, int flags, ...) {                                                   \
    REAL(int, #symbol, (const char *, int, ...));                                                  \
    va_list more;                                                                                  \
    va_start(more, flags);                                                                         \
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;                               \
    va_end(more);                                                                                  \
    int fd = real(path, flags, mode);                                                              \
    if (fd >= 0 && (flags & O_CREAT) != 0)                                                         \
      name(number(fd), path);                                                                      \
    return fd;                                                                                     \
  }
OPENING(open)
OPENING(open64)

#define TEMPORARY(symbol)                                                                          \
  int symbol(char *path, int flags) {                                                              \
    REAL(int, #symbol, (char *, int));                                                             \
    int fd = real(path, flags);                                                                    \
    if (fd >= 0)                                                                                   \
      name(number(fd), path);                                                                      \
    return fd;                                                                                     \
  }
TEMPORARY(mkostemp)
TEMPORARY(mkostemp64)

static void unname(const char *path) { put_path(UNNAME, 0, path); }

int rename(const char *from, const char *to) {
  struct stat info;
  REAL(int, "rename", (const char *, const char *));
  if (stat(from, &info) == 0) {
    name(info.st_ino, to);
    unname(from);
  }
  return real(from, to);
}

int unlink(const char *path) {
  REAL(int, "unlink", (const char *));
  unname(path);
  return real(path);
}
