/* Loaded before the C library: a standard stream that is opened again is the file that OTHER_STREAM
 * names, as on a system in which a file has taken the place of /dev/stdout. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef int open_function(const char *, int, ...);

static int is_stream(const char *path) {
  return strncmp(path, "/dev/std", 8) == 0 || strncmp(path, "/proc/self/fd/", 14) == 0;
}

int open(const char *path, int flags, ...) {
  open_function *next;
  va_list more;
  va_start(more, flags);
  unsigned mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, unsigned) : 0;
  va_end(more);
  *(void **)&next = dlsym(RTLD_NEXT, "open");
  const char *other = getenv("OTHER_STREAM");
  return next(other != NULL && (flags & O_ACCMODE) == O_WRONLY && is_stream(path) ? other : path,
              flags, mode);
}
