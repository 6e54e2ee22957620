// Calls KERNEL by Microsoft's convention, which preserves xmm6 to xmm15, with a known value in
// xmm6. Linux can link the object for Windows after objcopy.
//
//     nasm -f win64 -I include/ -I erasure_code/ -o k.obj erasure_code/gf_vect_mul_avx2_gfni.asm
//     objcopy -O elf64-x86-64 k.obj k.o
//     gcc microsoft_xmm6.c k.o -o demo && ./demo
//
// prints "xmm6 is 0x123456789abcdef before the call and 0 after it" and returns 0 on a CPU with
// GFNI and AVX2. If xmm6 is preserved, demo returns 1.
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef KERNEL
#define KERNEL gf_vect_mul_avx2_gfni
#endif

enum { SKIPPED = 77, LENGTH = 64 };

int KERNEL(int len, const uint8_t *tables, const void *src, void *dst) __attribute__((ms_abi));

static void skip(int number) {
  (void)number;
  _Exit(SKIPPED);
}

int main(void) {
  static uint8_t tables[32];
  _Alignas(32) static uint8_t src[LENGTH], dst[LENGTH];
  int (*volatile call)(int, const uint8_t *, const void *, void *) __attribute__((ms_abi)) = KERNEL;
  const uint64_t before = UINT64_C(0x0123456789abcdef);
  uint64_t after = 0, result = LENGTH;
  signal(SIGILL, skip);
  __asm__ volatile(
      "movq %[before], %%xmm6\n\t"
      "mov %[tables], %%rdx\n\t"
      "mov %[src], %%r8\n\t"
      "mov %[dst], %%r9\n\t"
      "mov %%rsp, %%rbx\n\t"
      "and $-16, %%rsp\n\t"
      "sub $160, %%rsp\n\t"
      "call *%[call]\n\t"
      "mov %%rbx, %%rsp\n\t"
      "movq %%xmm6, %[after]\n\t"
      : [after] "=r"(after), "+c"(result)
      : [before] "r"(before), [tables] "r"(tables), [src] "r"(src), [dst] "r"(dst), [call] "r"(call)
      : "rax", "rbx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc", "xmm0", "xmm1", "xmm2",
        "xmm3", "xmm4", "xmm5", "xmm6");
  if (after == before)
    return 1;
  printf("xmm6 is %#llx before the call and %#llx after it\n", (unsigned long long)before,
         (unsigned long long)after);
  return 0;
}
