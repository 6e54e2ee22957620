#include "room.h"

#include "common/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { LOG_LEAST = 4 << 20 /* bytes: enough to delete the largest chunk, or all chunks */ };

static int open_file(const char *path) { return open(path, O_WRONLY | O_CLOEXEC); }

bool room_open(room *r, const char *path) {
  char log[FILES_PATH + sizeof "-wal"];
  snprintf(log, sizeof log, "%s-wal", path);
  *r = (room){.file = open_file(path)};
  if (r->file < 0)
    return false;
  r->log = open_file(log);
  r->open = r->log >= 0;
  if (!r->open)
    close(r->file);
  return r->open;
}

void room_close(room *r) {
  if (r->open) {
    close(r->file);
    close(r->log);
  }
  *r = (room){0};
}

/* Reserve the bytes of a file from one to another, without a change of its length. */
static kept_status reserve(int fd, uint64_t from, uint64_t to) {
  int failed;
  do
    failed = fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(to - from));
  while (failed && errno == EINTR);
  if (!failed)
    return KEPT_OK;
  switch (errno) {
  case ENOSPC:
  case EDQUOT:
  case EFBIG:
    return KEPT_FULL;
  case EOPNOTSUPP: /* this file system cannot reserve room */
  case ENOSYS:
    return KEPT_OK;
  default:
    return KEPT_GONE;
  }
}

kept_status room_grow(room *r, uint64_t bytes) {
  return bytes <= r->bytes ? KEPT_OK : reserve(r->file, r->bytes, bytes);
}

void room_keep_log(room *r) { (void)reserve(r->log, 0, LOG_LEAST); }
