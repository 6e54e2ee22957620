/* LD_PRELOAD: makes the n-th call of one function fail, or raises a signal right before it.
 *
 * SHARDS_FAULT="CALL:N:ACTION", CALL one of pread pwrite read write mkstemp fsync rename (or
 * renameat2) unlink mkdir, N counted from 1, ACTION one of EIO ENOSPC EACCES (the call fails with
 * it and is not made) or INT TERM HUP KILL STOP (the signal is raised, then the call is made). A
 * second plan may follow after a comma. */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

static const struct {
  const char *name;
  int error;
  int signal;
} actions[] = {
    {"EIO", EIO, 0},      {"ENOSPC", ENOSPC, 0}, {"EACCES", EACCES, 0}, {"INT", 0, SIGINT},
    {"TERM", 0, SIGTERM}, {"HUP", 0, SIGHUP},    {"KILL", 0, SIGKILL},  {"STOP", 0, SIGSTOP},
};

/* Returns true and sets errno if this call fails. `plan` is one CALL:N:ACTION, `seen` its counter.
 */
static bool matches(const char *plan, const char *call, int *seen) {
  char wanted[16], what[16];
  int n;
  if (sscanf(plan, "%15[a-z]:%d:%15[A-Z]", wanted, &n, what) != 3)
    abort();
  if (strcmp(wanted, call) != 0 || ++*seen != n)
    return false;
  for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
    if (strcmp(actions[i].name, what) != 0)
      continue;
    if (actions[i].signal != 0)
      raise(actions[i].signal);
    errno = actions[i].error;
    return actions[i].error != 0;
  }
  abort();
}

static bool strikes(const char *call) {
  static int seen, seen_by_second;
  const char *plan = getenv("SHARDS_FAULT");
  if (plan == NULL)
    return false;
  const char *second = strchr(plan, ',');
  return matches(plan, call, &seen) ||
         (second != NULL && matches(second + 1, call, &seen_by_second));
}

#define HOOK(result, name, call, parameters, arguments)                                            \
  result name parameters {                                                                         \
    result(*real) parameters;                                                                      \
    *(void **)&real = dlsym(RTLD_NEXT, #name);                                                     \
    return strikes(call) ? -1 : real arguments;                                                    \
  }

HOOK(ssize_t, pread, "pread", (int fd, void *to, size_t size, off_t at), (fd, to, size, at))
HOOK(ssize_t, pread64, "pread", (int fd, void *to, size_t size, off64_t at), (fd, to, size, at))
HOOK(ssize_t, pwrite, "pwrite", (int fd, const void *from, size_t size, off_t at),
     (fd, from, size, at))
HOOK(ssize_t, pwrite64, "pwrite", (int fd, const void *from, size_t size, off64_t at),
     (fd, from, size, at))
HOOK(int, mkstemp, "mkstemp", (char *path), (path))
HOOK(int, mkstemp64, "mkstemp", (char *path), (path))
HOOK(int, fsync, "fsync", (int fd), (fd))
HOOK(int, rename, "rename", (const char *from, const char *to), (from, to))
HOOK(int, renameat2, "rename",
     (int from_folder, const char *from, int to_folder, const char *to, unsigned flags),
     (from_folder, from, to_folder, to, flags))
HOOK(ssize_t, read, "read", (int fd, void *to, size_t size), (fd, to, size))
HOOK(ssize_t, write, "write", (int fd, const void *from, size_t size), (fd, from, size))
HOOK(int, unlink, "unlink", (const char *path), (path))
HOOK(int, mkdir, "mkdir", (const char *path, mode_t mode), (path, mode))

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
