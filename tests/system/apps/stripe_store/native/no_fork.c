/* Loaded before the C library: fork() fails as long as the file that NO_FORK names exists. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

typedef pid_t fork_function(void);

pid_t fork(void) {
  const char *name = getenv("NO_FORK");
  if (name != NULL && access(name, F_OK) == 0) {
    errno = EAGAIN;
    return -1;
  }
  fork_function *next;
  *(void **)&next = dlsym(RTLD_NEXT, "fork");
  return next();
}
