/* machine.h: what the folder of a machine supplies (x86_64, aarch64, ppc64le, riscv64, s390x).
 *
 * A folder has state.h (what its trampoline loads and saves; C and assembler read it), trampoline.S
 * (junk in every register, the call, every register saved) and abi.c (what is loaded before, what
 * must hold after, and what a signal tells). The stack of the kernel is the harness's (stack.c).
 */
#ifndef GFSMITH_TEST_MACHINE_H
#define GFSMITH_TEST_MACHINE_H

#include "harness.h"

#define HIDDEN __attribute__((visibility("hidden")))

enum {
  FRAME_BYTES = 1024, /* the caller's frame: from the stack pointer that the caller sees, upwards */
  BELOW_BYTES = 1024, /* junk below the stack pointer */
};
enum access { ACCESS_UNKNOWN, ACCESS_READ, ACCESS_WRITE };

/* ---- the machine's ---- */

/* By enum abi; NULL where the machine has one ABI only. */
extern const char *const machine_abi_names[2];
/* Which registers there are. */
void machine_probe(void);
/* Bytes of a vector of the set whose vectors have no fixed size; 0 where there is none. */
size_t machine_scalable_bytes(void);
/* `frame` becomes a copy of what the caller's frame holds. */
void machine_load(const struct call *, uint8_t frame[FRAME_BYTES]);
/* trampoline.S: what machine_load said is loaded, harness_code is called, and what it left behind
 * is saved. */
extern HIDDEN const char *harness_code;
HIDDEN void harness_trampoline(void);
bool machine_check(const struct call *, const uint8_t frame[FRAME_BYTES], char *failure,
                   size_t size);
/* Of the context (a ucontext_t) that a signal handler gets. */
uintptr_t machine_instruction(const void *context);
enum access machine_access(const void *context);
/* After every instruction where call.stepped is set: traces, destroys what lies below the stack.
 * False: this machine does not single-step, and the signal is the kernel's own. */
bool machine_step(struct call *, void *context);

/* ---- model.c ---- */

/* Any bytes, cheaper than random ones. */
void junk_bytes(uint64_t *state, void *to, size_t size);

/* ---- stack.c: the kernel's stack, of which every byte of the caller's frame is known ---- */

/* Not an address, so that following it faults. */
uint64_t junk_word(uint64_t *state);
/* Where the caller's frame begins: a multiple of 16. */
uint8_t *stack_frame(void);
void stack_fill(uint64_t *state, uint8_t frame[FRAME_BYTES]);
/* Only bytes [from, to) of the caller's frame may have changed. */
bool stack_check(const uint8_t frame[FRAME_BYTES], size_t from, size_t to, char *failure,
                 size_t size);

#endif
