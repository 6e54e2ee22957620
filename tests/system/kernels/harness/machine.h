/* machine.h: the interface of a machine's folder (x86_64, aarch64, ppc64le, riscv64, s390x,
 * loongarch64).
 *
 * A folder has state.h (the state that its trampoline loads and saves, for C and assembler),
 * trampoline.S (junk in every register, the call, every register saved) and abi.c (the state before
 * the call, the conditions after it, and the meaning of signals). The kernel's stack belongs to the
 * harness (stack.c). */
#ifndef GFSMITH_TEST_MACHINE_H
#define GFSMITH_TEST_MACHINE_H

#include "harness.h"

#define HIDDEN __attribute__((visibility("hidden")))

enum {
  FRAME_BYTES = 1024, /* the caller's frame: upwards from the caller's stack pointer */
  BELOW_BYTES = 1024, /* junk below the stack pointer */
};
enum access { ACCESS_UNKNOWN, ACCESS_READ, ACCESS_WRITE };

/* ---- supplied by each machine ---- */

/* By enum abi; NULL for the second if the machine has one ABI. */
extern const char *const machine_abi_names[2];
/* Detects the CPU's registers. */
void machine_probe(void);
/* Returns the bytes of a vector of the scalable set; 0 without one. */
size_t machine_scalable_bytes(void);
/* Prepares a call; `frame` becomes a copy of the caller's frame. */
void machine_load(const struct call *, uint8_t frame[FRAME_BYTES]);
/* trampoline.S: loads the state that machine_load prepared, calls harness_code, and saves the state
 * after the return. */
extern HIDDEN const char *harness_code;
HIDDEN void harness_trampoline(void);
bool machine_check(const struct call *, const uint8_t frame[FRAME_BYTES], char *failure,
                   size_t size);
/* Read from the context (a ucontext_t) of a signal handler. */
uintptr_t machine_instruction(const void *context);
enum access machine_access(const void *context);
/* Runs after every instruction if call.stepped is set: traces, destroys the bytes below the stack.
 * Returns false if this machine cannot single-step; the signal then comes from the kernel. */
bool machine_step(struct call *, void *context);

/* ---- model.c ---- */

/* Fills bytes with junk, faster than with random bytes. */
void junk_bytes(uint64_t *state, void *to, size_t size);

/* ---- stack.c: the kernel's stack, with known bytes in the caller's frame ---- */

/* Returns a word that is not a valid address, so that following it faults. */
uint64_t junk_word(uint64_t *state);
/* Returns the beginning of the caller's frame, a multiple of 16. */
uint8_t *stack_frame(void);
void stack_fill(uint64_t *state, uint8_t frame[FRAME_BYTES]);
/* Checks that only bytes [from, to) of the caller's frame have changed. */
bool stack_check(const uint8_t frame[FRAME_BYTES], size_t from, size_t to, char *failure,
                 size_t size);

#endif
