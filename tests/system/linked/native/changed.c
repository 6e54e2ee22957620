/* Changes one byte of a kernel in memory, and prints the results of gfsmith_check_kernels before
 * and after. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gfsmith.h"
#include "gfsmith_kernels.h"

static void show(void) {
  unsigned compared, compiled;
  const char *name = gfsmith_check_kernels(&compared, &compiled);
  printf("%s %u %u\n", name != NULL ? name : "equal", compared, compiled);
}

int main(void) {
  uint8_t *code = (uint8_t *)(uintptr_t)gfs_xor_nx1__avx2_u4;
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  void *start = (void *)((uintptr_t)code & ~(page - 1));
  show();
  if (mprotect(start, 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
    return 1;
  code[40] ^= 1;
  show();
  return gfsmith_check_kernels(NULL, NULL) == NULL;
}
