#include "medium.h"

#include <errno.h>

/* Bytes that systems read at a time, at least; failures before more are skipped; a limit of shifts.
 */
enum { PAGE = 4096, PATIENCE = 4, MOST_SHIFT = 48 };

bool medium_failed(int error) { return error == EIO || error == EUCLEAN || error == EBADMSG; }

uint64_t medium_behind(uint64_t at, unsigned *failures) {
  unsigned shift = *failures < PATIENCE ? 0 : *failures - PATIENCE;
  *failures += shift < MOST_SHIFT;
  return at / PAGE * PAGE + ((uint64_t)PAGE << shift);
}
