// Adds twice the source to a destination that is the source, and to one that is a copy of it.
//
//     nasm -f elf64 -I include/ -I erasure_code/ -o k.o erasure_code/gf_vect_mad_sse.asm
//     gcc in_place.c k.o -o demo && ./demo
//
// prints "len = 72, dst = src: byte 56 is 175, with a copy of src 75" and returns 0. If both
// results are equal, demo returns 1.
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef KERNEL
#define KERNEL gf_vect_mad_sse
#define ARGUMENTS len, k, index, tables, src0, dst0
#endif

enum { SKIPPED = 77, LENGTH = 72, TABLE = 32 };

uint64_t KERNEL();

static void skip(int number) {
  (void)number;
  _Exit(SKIPPED);
}

// The products of the low and of the high nibble with 2, modulo 0x11d.
static void fill(uint8_t *table) {
  for (int i = 0; i < 16; i++) {
    table[i] = (uint8_t)(2 * i);
    table[16 + i] = (uint8_t)((32 * i) ^ (i & 8 ? 0x1d : 0));
  }
}

int main(void) {
  static uint8_t tables[6 * TABLE], source[LENGTH], together[LENGTH], apart[6][LENGTH],
      other[LENGTH];
  uint64_t len = LENGTH, k = 1, index = 0;
  signal(SIGILL, skip);
  for (int i = 0; i < 6; i++)
    fill(tables + i * TABLE);
  for (int i = 0; i < LENGTH; i++)
    source[i] = together[i] = apart[0][i] = (uint8_t)(i + 1);
  {
    uint8_t *src0 = source, *dst0 = apart[0], *dst[] = {apart[0], other};
    (void)dst, (void)dst0;
    KERNEL(ARGUMENTS);
  }
  {
    uint8_t *src0 = together, *dst0 = together, *dst[] = {together, apart[1]};
    (void)dst, (void)dst0;
    KERNEL(ARGUMENTS);
  }
  for (int i = 0; i < LENGTH; i++) {
    if (together[i] == apart[0][i])
      continue;
    printf("len = %d, dst = src: byte %d is %d, with a copy of src %d\n", LENGTH, i, together[i],
           apart[0][i]);
    return 0;
  }
  return 1;
}
