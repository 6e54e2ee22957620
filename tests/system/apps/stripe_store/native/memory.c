/* Linked into an agent with --wrap: lets allocations of its main thread fail, those of its own
 * code, of gfsmith's libraries and of libevent.
 *
 * STORE_MEMORY names a file that the test changes while the agent runs: the fields of `plan`. */
#define _GNU_SOURCE
#include <event2/event.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct plan {
  _Atomic int skip;  /* allocations that succeed before the next failures */
  _Atomic int fail;  /* failures to come; 0: none */
  _Atomic int every; /* let each n-th allocation fail; 0: none */
  _Atomic int lists; /* 1: of the allocations, only lists that grow count (reallocarray) */
} plan;

static plan *faults;
static bool failed_now(bool list) {
  static int count;
  if (faults == NULL || gettid() != getpid() || (faults->lists != 0 && !list))
    return false;
  if (faults->every > 0 && ++count % faults->every == 0)
    return true;
  if (faults->fail == 0 || faults->skip-- > 0)
    return false;
  faults->fail--;
  faults->skip = 0;
  return true;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_reallocarray(void *memory, size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);

void *__wrap_malloc(size_t size) { return failed_now(false) ? NULL : __real_malloc(size); }

void *__wrap_calloc(size_t count, size_t size) {
  return failed_now(false) ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size) {
  return failed_now(false) ? NULL : __real_realloc(memory, size);
}

void *__wrap_reallocarray(void *memory, size_t count, size_t size) {
  return failed_now(true) ? NULL : __real_reallocarray(memory, count, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  return failed_now(false) ? NULL : __real_aligned_alloc(alignment, size);
}

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("STORE_MEMORY");
  int fd = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
  void *shared =
      fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *faults, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (shared == MAP_FAILED)
    abort();
  close(fd);
  faults = shared;
  event_set_mem_functions(__wrap_malloc, __wrap_realloc, free);
}
