/* The memory of the stripes. */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "cell.h"

uint8_t *pool_make(size_t bytes, bool huge) {
  void *pool = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pool == MAP_FAILED)
    return NULL;
  madvise(pool, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  uint64_t state = 88172645463325252u;
  for (size_t n = 0; n < bytes / sizeof state; n++) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    ((uint64_t *)pool)[n] = state;
  }
  return pool;
}
