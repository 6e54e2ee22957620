/* Calls the kernels in KERNELS with arguments from standard input, and writes their destinations to
 * standard output.
 *
 * A request has the number of the kernel, k, outputs, bytes of the table, len, as uint32_t, then
 * the table, k sources and the initial contents of the destinations. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "gfsmith_kernels.h"

static uint8_t *take(size_t size) {
  uint8_t *memory = malloc(size + 1);
  if (!memory || fread(memory, 1, size, stdin) != size)
    exit(2);
  return memory;
}

int main(void) {
  static gfsmith_kernel *const kernels[] = {KERNELS};
  uint32_t head[5];
  while (fread(head, sizeof head, 1, stdin) == 1) {
    const uint8_t *source[32];
    uint8_t *destination[32];
    const uint8_t *table = take(head[3]);
    for (uint32_t j = 0; j < head[1]; j++)
      source[j] = take(head[4]);
    for (uint32_t i = 0; i < head[2]; i++)
      destination[i] = take(head[4]);
    kernels[head[0]](head[4], head[1], table, source, destination);
    for (uint32_t i = 0; i < head[2]; i++)
      fwrite(destination[i], 1, head[4], stdout);
  }
  return 0;
}
