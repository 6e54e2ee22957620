// Calls KERNEL with len = 0, which is a multiple of 32, and counts the bytes of dst that change.
//
//     nasm -f elf64 -I include/ -I erasure_code/ -o k.o erasure_code/gf_vect_mul_sse.asm
//     gcc zero_length.c k.o -o demo && ./demo
//
// prints "len = 0 changes 32 bytes of dst" and returns 0. Correct code changes none, and demo
// returns 1.
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef KERNEL
#define KERNEL gf_vect_mul_sse
#endif

enum { SKIPPED = 77, LENGTH = 64, FILL = 0x5a };

int KERNEL(int len, const uint8_t *tables, const void *src, void *dst);

static void skip(int number) {
  (void)number;
  _Exit(SKIPPED);
}

int main(void) {
  static uint8_t tables[32];
  _Alignas(32) static uint8_t src[LENGTH], dst[LENGTH];
  int changed = 0;
  signal(SIGILL, skip);
  for (int i = 0; i < LENGTH; i++)
    dst[i] = FILL;
  KERNEL(0, tables, src, dst);
  for (int i = 0; i < LENGTH; i++)
    changed += dst[i] != FILL;
  if (changed == 0)
    return 1;
  printf("len = 0 changes %d bytes of dst\n", changed);
  return 0;
}
