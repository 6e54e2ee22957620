#include "wire.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { ROOM = 16384, LINE = 1024, STEP = 512 };
enum { LEAST = 8 }; /* MB: memcached refuses a lower limit while it runs */

int wire_connect(const char *path, unsigned timeout_ms) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  struct timeval limit = {.tv_sec = timeout_ms / 1000,
                          .tv_usec = (suseconds_t)(timeout_ms % 1000) * 1000};
  if ((size_t)snprintf(address.sun_path, sizeof address.sun_path, "%s", path) >=
      sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0)
    return -1;
  if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) != 0 ||
      setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) != 0 ||
      connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
    close(fd);
    return -1;
  }
  return fd;
}

/* The lines of an answer. */
typedef struct lines {
  int fd;
  size_t at, filled;
  char room[ROOM];
} lines;

/* The next line without its end, or NULL; valid until the next call. */
static char *next_line(lines *l) {
  for (;;) {
    char *start = l->room + l->at;
    char *end = memchr(start, '\n', l->filled - l->at);
    if (end != NULL) {
      l->at = (size_t)(end + 1 - l->room);
      *end = '\0';
      if (end > start && end[-1] == '\r')
        end[-1] = '\0';
      return start;
    }
    memmove(l->room, start, l->filled - l->at);
    l->filled -= l->at;
    l->at = 0;
    if (l->filled >= LINE)
      return NULL;
    ssize_t n = recv(l->fd, l->room + l->filled, ROOM - l->filled, 0);
    if (n <= 0)
      return NULL;
    l->filled += (size_t)n;
  }
}

static bool ask(lines *l, int fd, const char *question) {
  l->fd = fd;
  l->at = l->filled = 0;
  return send(fd, question, strlen(question), MSG_NOSIGNAL) == (ssize_t)strlen(question);
}

bool wire_evicts(int fd, bool *evicts) {
  lines l;
  char *line;
  bool known = false;
  if (!ask(&l, fd, "stats settings\r\n"))
    return false;
  while ((line = next_line(&l)) != NULL && strcmp(line, "END") != 0)
    if (strncmp(line, "STAT evictions ", 15) == 0) {
      known = true;
      *evicts = strcmp(line + 15, "off") != 0;
    }
  return line != NULL && known;
}

/* A number in memcached's answer to a question about its statistics. */
static bool find_number(int fd, const char *question, const char *name, uint64_t *value) {
  lines l;
  char *line, is[32];
  uint64_t at;
  bool known = false;
  if (!ask(&l, fd, question))
    return false;
  while ((line = next_line(&l)) != NULL && strcmp(line, "END") != 0)
    if (sscanf(line, "STAT %31s %" SCNu64, is, &at) == 2 && strcmp(is, name) == 0) {
      known = true;
      *value = at;
    }
  return line != NULL && known;
}

static bool number(int fd, const char *name, uint64_t *value) {
  return find_number(fd, "stats\r\n", name, value);
}

/* Find the class of sizes with the most free chunks, in pages. False: no class has another page and
 * enough free chunks for all items of a page: without them, memcached would evict. */
static bool spare_class(int fd, unsigned *class) {
  lines l;
  char *line, is[32];
  uint64_t value, each = 1, pages = 0, most = 0;
  unsigned at;
  if (!ask(&l, fd, "stats slabs\r\n"))
    return false;
  while ((line = next_line(&l)) != NULL && strcmp(line, "END") != 0) {
    if (sscanf(line, "STAT %u:%31s %" SCNu64, &at, is, &value) != 3)
      continue;
    if (strcmp(is, "chunks_per_page") == 0)
      each = value > 0 ? value : 1;
    else if (strcmp(is, "total_pages") == 0)
      pages = value;
    else if (strcmp(is, "free_chunks") == 0 && pages > 1 && value / each > most)
      most = value / each, *class = at;
  }
  return line != NULL && most > 0;
}

/* Send a command, and wait until `name` is not `before` any more. */
static bool change(int fd, const char *command, const char *name, uint64_t before,
                   unsigned timeout_ms) {
  lines l;
  uint64_t now = before;
  const char *line = ask(&l, fd, command) ? next_line(&l) : NULL;
  if (line == NULL || strcmp(line, "OK") != 0)
    return false;
  for (unsigned ms = 0; number(fd, name, &now) && now == before && ms < timeout_ms; ms++)
    usleep(1000);
  return now != before;
}

/* Take a page from a class: it belongs to none then, or to the system, as long as memcached has
 * more than its limit. */
static bool free_page(int fd, unsigned timeout_ms) {
  char command[64];
  uint64_t moved;
  unsigned class;
  if (!number(fd, "slabs_moved", &moved) || !spare_class(fd, &class))
    return false;
  snprintf(command, sizeof command, "slabs reassign %u 0\r\n", class);
  return change(fd, command, "slabs_moved", moved, timeout_ms);
}

bool wire_make_room(const char *path, size_t pages, unsigned timeout_ms) {
  uint64_t there = 0;
  int fd = wire_connect(path, timeout_ms);
  if (fd < 0)
    return false;
  while (number(fd, "slab_global_page_pool", &there) && there < pages && free_page(fd, timeout_ms))
    ;
  close(fd);
  return there > 0;
}

/* The memory in use may exceed the limit. */
static bool raise_limit(int fd, size_t pages, unsigned timeout_ms) {
  char command[64];
  uint64_t used, limit, most; /* in MB, as large as pages */
  if (!find_number(fd, "stats slabs\r\n", "total_malloced", &used) ||
      !number(fd, "limit_maxbytes", &limit))
    return false;
  most = ((used > limit ? used : limit) >> 20) + 1 + pages;
  snprintf(command, sizeof command, "cache_memlimit %" PRIu64 "\r\n", most < LEAST ? LEAST : most);
  return change(fd, command, "limit_maxbytes", limit, timeout_ms);
}

bool wire_add_room(const char *path, size_t pages, unsigned timeout_ms) {
  int fd = wire_connect(path, timeout_ms);
  bool done = fd >= 0 && raise_limit(fd, pages, timeout_ms);
  if (fd >= 0)
    close(fd);
  return done;
}

bool wire_reclaim(const char *path, unsigned timeout_ms) {
  int fd = wire_connect(path, timeout_ms);
  bool done =
      fd >= 0 && change(fd, "lru_crawler crawl all\r\n", "lru_crawler_running", 1, timeout_ms);
  if (fd >= 0)
    close(fd);
  return done;
}

struct wire_keys {
  lines lines;
};

wire_keys *wire_keys_open(const char *path, unsigned timeout_ms) {
  int fd = wire_connect(path, timeout_ms);
  wire_keys *k = fd < 0 ? NULL : malloc(sizeof *k);
  if (k != NULL && ask(&k->lines, fd, "lru_crawler metadump hash\r\n"))
    return k;
  free(k);
  if (fd >= 0)
    close(fd);
  return NULL;
}

bool wire_keys_next(wire_keys *k, void (*found)(void *owner, const char *key, size_t length),
                    void *owner, bool *end) {
  const char *line = NULL;
  unsigned left = STEP;
  while (left > 0 && (line = next_line(&k->lines)) != NULL && strncmp(line, "key=", 4) == 0) {
    found(owner, line + 4, strcspn(line + 4, " "));
    left--;
  }
  *end = left > 0;
  return left == 0 || (line != NULL && strcmp(line, "END") == 0);
}

void wire_keys_close(wire_keys *k) {
  if (k != NULL)
    close(k->lines.fd);
  free(k);
}
