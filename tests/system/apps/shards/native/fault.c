/* LD_PRELOAD: makes the n-th call of a function fail, or raises a signal right before it.
 *
 * SHARDS_FAULT="CALL:N:ACTION", CALL the name of a hook below, "call" for any of them, or "alloc"
 * for an allocation. N is counted from 1; with "+" after it all later calls match, too. ACTION is
 * an error (the call is not made), a signal (raised before the call), or SHORT (a read or write
 * transfers half of its bytes). A second plan may follow after a comma.
 *
 * SHARDS_PROGRAM is the name of the program, if it is not gfsmith-shards. SHARDS_COUNT names a file
 * that receives "CALLS ALLOCATIONS" at the end of the program, SHARDS_FLUSHED one that receives the
 * number (st_ino) of each file after its fsync. */
#include <asm/fcntl.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { NONE = 0, SHORT = -1 };

static const struct {
  const char *name;
  int error; /* or SHORT */
  int signal;
} actions[] = {
    {"EIO", EIO, 0},       {"ENOSPC", ENOSPC, 0},   {"EACCES", EACCES, 0},
    {"EDQUOT", EDQUOT, 0}, {"EFBIG", EFBIG, 0},     {"EMFILE", EMFILE, 0},
    {"ENOMEM", ENOMEM, 0}, {"EAGAIN", EAGAIN, 0},   {"EILSEQ", EILSEQ, 0},
    {"SHORT", SHORT, 0},   {"INT", NONE, SIGINT},   {"TERM", NONE, SIGTERM},
    {"HUP", NONE, SIGHUP}, {"KILL", NONE, SIGKILL}, {"STOP", NONE, SIGSTOP},
};

static int act(const char *what) {
  for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
    if (strcmp(actions[i].name, what) != 0)
      continue;
    if (actions[i].signal != 0)
      raise(actions[i].signal);
    return actions[i].error;
  }
  abort();
}

/* The error with which this call fails, SHORT or NONE. `plan` is one CALL:N:ACTION, `seen` its
 * counter. */
static int matches(const char *plan, const char *call, int *seen) {
  char wanted[16], what[16];
  int n, used = 0;
  if (sscanf(plan, "%15[a-z]:%d%n", wanted, &n, &used) != 2)
    abort();
  bool onward = plan[used] == '+';
  if (sscanf(plan + used + onward, ":%15[A-Z]", what) != 1)
    abort();
  bool group = strcmp(wanted, "call") == 0 && strcmp(call, "alloc") != 0;
  if (!group && strcmp(wanted, call) != 0)
    return NONE;
  ++*seen;
  return *seen == n || (onward && *seen > n) ? act(what) : NONE;
}

static int calls, allocations;

static int strikes(const char *call) {
  static int seen, seen_by_second;
  const char *plan = getenv("SHARDS_FAULT");
  const char *program = getenv("SHARDS_PROGRAM");
  if (strcmp(program_invocation_short_name, program != NULL ? program : "gfsmith-shards") != 0)
    return NONE; /* tar */
  ++*(strcmp(call, "alloc") == 0 ? &allocations : &calls);
  if (plan == NULL)
    return NONE;
  const char *second = strchr(plan, ',');
  int first = matches(plan, call, &seen);
  return first != NONE || second == NULL ? first : matches(second + 1, call, &seen_by_second);
}

__attribute__((destructor)) static void count(void) {
  char text[40];
  const char *path = getenv("SHARDS_COUNT");
  FILE *file = path != NULL && calls > 0 ? fopen(path, "w") : NULL;
  int size = snprintf(text, sizeof text, "%d %d\n", calls, allocations);
  if (file != NULL) {
    fwrite(text, 1, (size_t)size, file);
    fclose(file);
  }
}

#define HOOK(result, failure, name, call, parameters, arguments)                                   \
  result name parameters {                                                                         \
    result(*real) parameters;                                                                      \
    *(void **)&real = dlsym(RTLD_NEXT, #name);                                                     \
    int error = strikes(call);                                                                     \
    if (error <= NONE)                                                                             \
      return real arguments;                                                                       \
    errno = error;                                                                                 \
    return failure;                                                                                \
  }

/* Reads and writes, which may be short. */
#define TRANSFER(name, call, parameters, arguments)                                                \
  ssize_t name parameters {                                                                        \
    ssize_t(*real) parameters;                                                                     \
    *(void **)&real = dlsym(RTLD_NEXT, #name);                                                     \
    int error = strikes(call);                                                                     \
    if (error == SHORT && size > 1)                                                                \
      size /= 2;                                                                                   \
    if (error <= NONE)                                                                             \
      return real arguments;                                                                       \
    errno = error;                                                                                 \
    return -1;                                                                                     \
  }

TRANSFER(pread, "pread", (int fd, void *to, size_t size, off_t at), (fd, to, size, at))
TRANSFER(pread64, "pread", (int fd, void *to, size_t size, off64_t at), (fd, to, size, at))
TRANSFER(pwrite, "pwrite", (int fd, const void *from, size_t size, off_t at), (fd, from, size, at))
TRANSFER(pwrite64, "pwrite", (int fd, const void *from, size_t size, off64_t at),
         (fd, from, size, at))
TRANSFER(read, "read", (int fd, void *to, size_t size), (fd, to, size))
TRANSFER(write, "write", (int fd, const void *from, size_t size), (fd, from, size))
HOOK(ssize_t, -1, getrandom, "getrandom", (void *to, size_t size, unsigned flags),
     (to, size, flags))

/* fcntl.h is not included: its functions have variable arguments. A new file is "create". */
#define OPENS(flags) ((flags) & O_EXCL ? "create" : "open")
HOOK(int, -1, open, OPENS(flags), (const char *path, int flags, mode_t mode), (path, flags, mode))
HOOK(int, -1, open64, OPENS(flags), (const char *path, int flags, mode_t mode), (path, flags, mode))
HOOK(int, -1, openat, OPENS(flags), (int folder, const char *path, int flags, mode_t mode),
     (folder, path, flags, mode))
HOOK(int, -1, openat64, OPENS(flags), (int folder, const char *path, int flags, mode_t mode),
     (folder, path, flags, mode))
/* Of programs with _FORTIFY_SOURCE, for flags that the compiler does not know. */
HOOK(int, -1, __open64_2, "open", (const char *path, int flags), (path, flags))
HOOK(int, -1, __openat64_2, "open", (int folder, const char *path, int flags),
     (folder, path, flags))
HOOK(int, -1, fcntl64, "fcntl", (int fd, int command, long value), (fd, command, value))
HOOK(char *, NULL, mkdtemp, "mkdtemp", (char *path), (path))
HOOK(int, -1, mkdir, "mkdir", (const char *path, mode_t mode), (path, mode))
HOOK(int, -1, mkdirat, "mkdir", (int folder, const char *path, mode_t mode), (folder, path, mode))
HOOK(int, -1, rmdir, "rmdir", (const char *path), (path))
HOOK(int, -1, syncfs, "syncfs", (int fd), (fd))
HOOK(int, -1, ftruncate64, "ftruncate", (int fd, off64_t size), (fd, size))
HOOK(int, -1, fallocate, "fallocate", (int fd, int mode, off_t from, off_t size),
     (fd, mode, from, size))
HOOK(int, -1, fdatasync, "fdatasync", (int fd), (fd))
HOOK(int, -1, sync_file_range, "writeback", (int fd, off64_t from, off64_t size, unsigned flags),
     (fd, from, size, flags))
HOOK(int, -1, flock, "flock", (int fd, int operation), (fd, operation))
HOOK(int, -1, rename, "rename", (const char *from, const char *to), (from, to))
HOOK(int, -1, renameat, "rename",
     (int from_folder, const char *from, int to_folder, const char *to),
     (from_folder, from, to_folder, to))
HOOK(int, -1, renameat2, "rename",
     (int from_folder, const char *from, int to_folder, const char *to, unsigned flags),
     (from_folder, from, to_folder, to, flags))
HOOK(int, -1, linkat, "link",
     (int from_folder, const char *from, int to_folder, const char *to, int flags),
     (from_folder, from, to_folder, to, flags))
HOOK(int, -1, unlink, "unlink", (const char *path), (path))
HOOK(int, -1, unlinkat, "unlink", (int folder, const char *path, int flags), (folder, path, flags))
HOOK(int, -1, fchmod, "fchmod", (int fd, mode_t mode), (fd, mode))
HOOK(int, -1, stat, "stat", (const char *path, struct stat *to), (path, to))
HOOK(int, -1, stat64, "stat", (const char *path, struct stat64 *to), (path, to))
HOOK(int, -1, lstat64, "stat", (const char *path, struct stat64 *to), (path, to))
HOOK(int, -1, fstat64, "stat", (int fd, struct stat64 *to), (fd, to))
HOOK(int, -1, fstatat64, "stat", (int folder, const char *path, struct stat64 *to, int flags),
     (folder, path, to, flags))
HOOK(DIR *, NULL, opendir, "opendir", (const char *path), (path))
HOOK(struct dirent *, NULL, readdir, "readdir", (DIR * folder), (folder))
HOOK(struct dirent64 *, NULL, readdir64, "readdir", (DIR * folder), (folder))
HOOK(int, -1, scandir64, "scandir",
     (const char *path, struct dirent64 ***to, int (*choose)(const struct dirent64 *),
      int (*order)(const struct dirent64 **, const struct dirent64 **)),
     (path, to, choose, order))
HOOK(char *, NULL, realpath, "realpath", (const char *path, char *to), (path, to))
HOOK(int, -1, memfd_create, "memfd", (const char *name, unsigned flags), (name, flags))
HOOK(int, -1, pipe2, "pipe", (int ends[2], int flags), (ends, flags))
HOOK(pid_t, -1, waitpid, "waitpid", (pid_t child, int *status, int options),
     (child, status, options))
HOOK(int, error, posix_spawnp, "spawn",
     (pid_t * child, const char *file, const posix_spawn_file_actions_t *files,
      const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[]),
     (child, file, files, attributes, arguments, environment))

static void flushed(int fd) {
  struct stat64 info;
  int (*examine)(int, struct stat64 *);
  *(void **)&examine = dlsym(RTLD_NEXT, "fstat64");
  const char *path = getenv("SHARDS_FLUSHED");
  FILE *file = path != NULL && examine(fd, &info) == 0 ? fopen(path, "a") : NULL;
  if (file != NULL) {
    fprintf(file, "%llu\n", (unsigned long long)info.st_ino);
    fclose(file);
  }
}

int fsync(int fd) {
  int (*real)(int);
  *(void **)&real = dlsym(RTLD_NEXT, "fsync");
  int error = strikes("fsync");
  if (error <= NONE) {
    int status = real(fd);
    flushed(fd);
    return status;
  }
  errno = error;
  return -1;
}

/* A close that fails has closed the file. */
int close(int fd) {
  int (*real)(int);
  *(void **)&real = dlsym(RTLD_NEXT, "close");
  int error = strikes("close"), status = real(fd);
  if (error <= NONE)
    return status;
  errno = error;
  return -1;
}

/* The names under which glibc exports its allocator: dlsym allocates. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static bool no_memory(void) {
  bool none = strikes("alloc") > NONE;
  if (none)
    errno = ENOMEM;
  return none;
}

void *malloc(size_t size) { return no_memory() ? NULL : __libc_malloc(size); }

void *calloc(size_t count, size_t size) { return no_memory() ? NULL : __libc_calloc(count, size); }

void *realloc(void *memory, size_t size) {
  return no_memory() ? NULL : __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  return no_memory() ? NULL : __libc_memalign(alignment, size);
}

/* SHARDS_CLOCK: each call of clock_gettime is this number of seconds after the last one. */
int clock_gettime(clockid_t clock, struct timespec *time) {
  static time_t now;
  int (*real)(clockid_t, struct timespec *);
  *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
  const char *step = getenv("SHARDS_CLOCK");
  if (step == NULL)
    return real(clock, time);
  now += atoi(step);
  *time = (struct timespec){now, 0};
  return 0;
}
