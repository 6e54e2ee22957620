/* Counts allocations of a program linked with --wrap; used by test_counters.py. */
#include <stddef.h>

void *__real_calloc(size_t count, size_t size);
void *__real_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_malloc(size_t size);

extern unsigned allocations;
unsigned allocations;

void *__wrap_calloc(size_t count, size_t size) {
  allocations++;
  return __real_calloc(count, size);
}

void *__wrap_malloc(size_t size) {
  allocations++;
  return __real_malloc(size);
}
