#include "medium.h"

#include <errno.h>

#include "output.h"
#include "report.h"

/* Bytes that systems read at a time, at least; failures before more are skipped; a limit of shifts.
 */
enum { PAGE = 4096, PATIENCE = 4, MOST_SHIFT = 48 };

/* ENODATA: of a medium, and EREMOTEIO: of the device (block/blk-core.c of Linux). File systems such
 * as XFS pass them on if they cannot read an inode. */
bool medium_failed(int error) {
  return error == EIO || error == EUCLEAN || error == EBADMSG || error == ENODATA ||
         error == EREMOTEIO;
}

uint64_t medium_behind(uint64_t at, unsigned *failures) {
  unsigned shift = *failures < PATIENCE ? 0 : *failures - PATIENCE;
  *failures += shift < MOST_SHIFT;
  return at / PAGE * PAGE + ((uint64_t)PAGE << shift);
}

ssize_t medium_read(int fd, void *bytes, size_t size, uint64_t at) {
  errno = EINTR;
  ssize_t n = -1;
  for (unsigned tries = 0; n < 0 && tries < 2 && !report_interrupted(); tries++)
    n = read_at(fd, bytes, size, at);
  return n;
}

ssize_t medium_read_part(int fd, void *bytes, size_t size, uint64_t at) {
  ssize_t n = medium_read(fd, bytes, size, at);
  return n < 0 && medium_failed(errno) ? read_part(fd, bytes, size, at) : n;
}
