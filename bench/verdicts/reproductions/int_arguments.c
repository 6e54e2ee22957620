// Calls KERNEL with len = 64, and with the same int and a bit in the upper half of its register,
// which System V's ABI permits (AMD64 ABI, 3.2.3: the upper bits of an int argument are undefined).
// KERNEL and ARGUMENTS may be given by -D.
//
//     nasm -f elf64 -I include/ -I erasure_code/ -o k.o erasure_code/gf_2vect_dot_prod_avx2.asm
//     gcc int_arguments.c k.o -o demo && ./demo
//
// prints "returns for len = 64, ends with signal 11 if bit 32 of its register is set" and returns
// 0. If both calls return, demo returns 1.
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef KERNEL
#define KERNEL gf_2vect_dot_prod_avx2
#define ARGUMENTS len, k, tables, src, dst
#endif

enum { SKIPPED = 77, SHARDS = 16, SHARD = 4096 };

uint64_t KERNEL();

static uint8_t *shards(void) {
  return mmap(NULL, SHARDS * SHARD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

// Returns the signal that ended the call in a child process, or 0.
static int signal_of(uint64_t len) {
  pid_t child = fork();
  if (child == 0) {
    static uint8_t tables[SHARDS * SHARDS * 32];
    uint8_t *src[SHARDS], *dst[SHARDS], *src0 = shards(), *dst0 = shards();
    uint64_t k = 5, index = 1;
    for (int i = 0; i < SHARDS; i++) {
      src[i] = src0 + i * SHARD;
      dst[i] = dst0 + i * SHARD;
    }
    (void)k, (void)index, (void)src, (void)dst;
    KERNEL(ARGUMENTS);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

int main(void) {
  int plain = signal_of(64);
  if (plain == SIGILL)
    return SKIPPED;
  int upper = signal_of(64 | UINT64_C(1) << 32);
  if (plain != 0 || upper == 0)
    return 1;
  printf("returns for len = 64, ends with signal %d if bit 32 of its register is set\n", upper);
  return 0;
}
