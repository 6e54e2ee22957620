/* LD_PRELOAD: a device with bad sectors. SHARDS_BAD="NAME:PAGE,NAME:PAGE+" names the pages of files
 * that cannot be read, with "+" all from there on. A read that begins before one ends there, as in
 * Linux. A program that tries to read them without end is aborted. */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { PAGE = 4096, MOST_ATTEMPTS = 200 };

static bool is_bad(const char *name, off_t page) {
  size_t length = strlen(name);
  for (const char *one = getenv("SHARDS_BAD"); one != NULL; one = strchr(one, ',')) {
    char *end;
    one += *one == ',';
    if (strncmp(one, name, length) != 0 || one[length] != ':')
      continue;
    long from = strtol(one + length + 1, &end, 10);
    if (page == from || (*end == '+' && page > from))
      return true;
  }
  return false;
}

/* The bytes at the offset that can be read, at most `size`. */
static size_t count_good(int fd, size_t size, off_t offset) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  path[length < 0 ? 0 : length] = '\0';
  const char *slash = strrchr(path, '/');
  for (off_t page = offset / PAGE; slash != NULL && page * PAGE < offset + (off_t)size; page++)
    if (is_bad(slash + 1, page))
      return page * PAGE > offset ? (size_t)(page * PAGE - offset) : 0;
  return size;
}

ssize_t pread64(int fd, void *bytes, size_t size, off_t offset) {
  static int attempts;
  ssize_t (*real)(int, void *, size_t, off_t);
  *(void **)&real = dlsym(RTLD_NEXT, "pread64");
  size_t good = count_good(fd, size, offset);
  if (size > 0 && good == 0) {
    if (++attempts > MOST_ATTEMPTS)
      abort();
    errno = EIO;
    return -1;
  }
  return real(fd, bytes, good, offset);
}
