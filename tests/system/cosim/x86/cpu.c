/* cpu.c: executes a few instructions on this CPU from a given machine state, and returns the state
 * after.
 *
 * Memory of the code under test: one block of `cosim_block_bytes`, with an inaccessible page before
 * and after it, and one page of code at a fixed distance, so that rip-relative operands reach the
 * block. */
#define _GNU_SOURCE
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "machine.h"

enum { PAGE = 4096, BLOCK_BYTES = PAGE, INSTRUCTIONS_MAX = 256, ARITHMETIC_FLAGS = 0x8D5 };

/* All registers and memory that an instruction may read or write. */
struct cosim_state {
  uint64_t gpr[16];
  uint64_t rflags;
  uint64_t masks[8];
  uint64_t reserved[7];
  uint8_t vectors[32][64];
  uint8_t memory[BLOCK_BYTES];
};

_Static_assert(offsetof(struct cosim_state, rflags) == REGISTERS_RFLAGS, "machine.h");
_Static_assert(offsetof(struct cosim_state, masks) == REGISTERS_MASKS, "machine.h");
_Static_assert(offsetof(struct cosim_state, vectors) == REGISTERS_VECTOR(0), "machine.h");
_Static_assert(offsetof(struct cosim_state, memory) == REGISTERS_BYTES, "machine.h");

extern uint8_t cosim_before[REGISTERS_BYTES], cosim_after[REGISTERS_BYTES];
extern uint64_t cosim_code, cosim_own_rsp;
extern int cosim_level;
extern const char cosim_returned[], cosim_leave[];
void cosim_trampoline(void);

const size_t cosim_block_bytes = BLOCK_BYTES;
const size_t cosim_state_bytes = sizeof(struct cosim_state);

static const int caught[] = {SIGILL, SIGSEGV, SIGBUS, SIGFPE, SIGTRAP};
enum { CAUGHT = sizeof caught / sizeof caught[0] };

static uint8_t *region;
static volatile sig_atomic_t fault;
static uint8_t signal_stack[64 * 1024];

static uint8_t *block(void) { return region + PAGE; }

static uint8_t *code(void) { return region + 2 * PAGE + BLOCK_BYTES; }

/* Maps block and code page once, at an address with many bits set. Returns 0 or -1. */
int cosim_open(void) {
  if (region)
    return 0;
  const size_t bytes = 3 * PAGE + BLOCK_BYTES;
  void *const wish = (void *)(uintptr_t)0x5A96C3E10000;
  uint8_t *map = mmap(wish, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED)
    return -1;
  region = map;
  return mprotect(block(), BLOCK_BYTES, PROT_READ | PROT_WRITE);
}

uint64_t cosim_block_address(void) { return (uintptr_t)block(); }

uint64_t cosim_code_address(void) { return (uintptr_t)code(); }

int cosim_detect_level(void) {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512bw"))
    return LEVEL_AVX512;
  return __builtin_cpu_supports("avx") ? LEVEL_AVX : LEVEL_SSE;
}

/* The code under test faulted: continues at the end of the trampoline. */
static void on_fault(int number, siginfo_t *info, void *context) {
  (void)info;
  greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
  fault = number;
  registers[REG_RIP] = (greg_t)(uintptr_t)cosim_leave;
  registers[REG_RSP] = (greg_t)cosim_own_rsp;
}

/* Writes the instructions, then `jmp [rip]` to the trampoline, then breakpoints. */
static int write_code(const uint8_t *instructions, size_t size) {
  static const uint8_t jump[] = {0xFF, 0x25, 0, 0, 0, 0};
  const uint64_t back = (uintptr_t)cosim_returned;
  if (mprotect(code(), PAGE, PROT_READ | PROT_WRITE))
    return -1;
  memset(code(), 0xCC, 2 * INSTRUCTIONS_MAX);
  memcpy(code(), instructions, size);
  memcpy(code() + size, jump, sizeof jump);
  memcpy(code() + size + sizeof jump, &back, sizeof back);
  return mprotect(code(), PAGE, PROT_READ | PROT_EXEC);
}

/* Runs the trampoline with the fault handlers on their own stack and all other signals blocked. */
static void run_guarded(void) {
  struct sigaction own = {0}, saved[CAUGHT];
  own.sa_sigaction = on_fault;
  own.sa_flags = SA_SIGINFO | SA_ONSTACK;
  stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack}, saved_stack;
  sigset_t others, saved_set;
  sigfillset(&others);
  for (int i = 0; i < CAUGHT; i++)
    sigdelset(&others, caught[i]);
  sigprocmask(SIG_SETMASK, &others, &saved_set);
  sigaltstack(&stack, &saved_stack);
  for (int i = 0; i < CAUGHT; i++)
    sigaction(caught[i], &own, &saved[i]);
  cosim_trampoline();
  for (int i = 0; i < CAUGHT; i++)
    sigaction(caught[i], &saved[i], NULL);
  sigaltstack(&saved_stack, NULL);
  sigprocmask(SIG_SETMASK, &saved_set, NULL);
}

/* Executes `size` bytes of straight-line code from `in`, with the vector registers of `level`.
 *
 * Returns 0 and the state after in `out`; the number of the signal if it faulted (`out` is then
 * `in`, with the memory as the code left it); -1 if it cannot be run. State that `level` does not
 * have is copied from `in`. */
int cosim_run(const uint8_t *instructions, size_t size, int level, const struct cosim_state *in,
              struct cosim_state *out) {
  if (!region || size > INSTRUCTIONS_MAX || level > cosim_detect_level() ||
      write_code(instructions, size))
    return -1;
  memcpy(cosim_before, in, REGISTERS_BYTES);
  memcpy(cosim_after, in, REGISTERS_BYTES);
  const uint64_t flags = 0x202 | (in->rflags & ARITHMETIC_FLAGS);
  memcpy(cosim_before + REGISTERS_RFLAGS, &flags, sizeof flags);
  memcpy(block(), in->memory, BLOCK_BYTES);
  cosim_code = (uintptr_t)code();
  cosim_level = level;
  fault = 0;
  run_guarded();
  memcpy(out, fault ? cosim_before : cosim_after, REGISTERS_BYTES);
  memcpy(out->memory, block(), BLOCK_BYTES);
  return fault;
}
