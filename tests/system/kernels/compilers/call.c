/* Calls the kernels in KERNELS with arguments from standard input, and writes their destinations to
 * standard output.
 *
 * A request has the number of the kernel, the place of the blocks, k, outputs, bytes of the table,
 * len, as uint32_t, then the table, k sources and the initial contents of the destinations. Each
 * block lies between two guard pages. Place 0: it begins behind the first, at a multiple of the
 * size of a page; place 1: it ends before the second. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gfsmith_kernels.h"

enum { NUMBER, PLACE, INPUTS, OUTPUTS, TABLE, LENGTH, HEAD };

static size_t room(size_t size) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return (size + page - 1) / page * page + page;
}

static uint8_t *take(size_t size, uint32_t place) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), middle = room(size);
  uint8_t *first =
      mmap(NULL, page + middle, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (first == MAP_FAILED || mprotect(first, page, PROT_NONE) ||
      mprotect(first + middle, page, PROT_NONE))
    exit(2);
  uint8_t *memory = place ? first + middle - size : first + page;
  if (fread(memory, 1, size, stdin) != size)
    exit(2);
  return memory;
}

static void give_back(const uint8_t *memory, size_t size, uint32_t place) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), middle = room(size);
  munmap((uint8_t *)memory - (place ? middle - size : page), page + middle);
}

int main(void) {
  static gfsmith_kernel *const kernels[] = {KERNELS};
  uint32_t head[HEAD];
  while (fread(head, sizeof head, 1, stdin) == 1) {
    const uint8_t *source[32];
    uint8_t *destination[32];
    const size_t len = head[LENGTH];
    const uint8_t *table = take(head[TABLE], head[PLACE]);
    for (uint32_t j = 0; j < head[INPUTS]; j++)
      source[j] = take(len, head[PLACE]);
    for (uint32_t i = 0; i < head[OUTPUTS]; i++)
      destination[i] = take(len, head[PLACE]);
    kernels[head[NUMBER]](len, head[INPUTS], table, source, destination);
    for (uint32_t i = 0; i < head[OUTPUTS]; i++)
      fwrite(destination[i], 1, len, stdout);
    give_back(table, head[TABLE], head[PLACE]);
    for (uint32_t j = 0; j < head[INPUTS]; j++)
      give_back(source[j], len, head[PLACE]);
    for (uint32_t i = 0; i < head[OUTPUTS]; i++)
      give_back(destination[i], len, head[PLACE]);
  }
  return 0;
}
