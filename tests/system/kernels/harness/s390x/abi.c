/* abi.c: the guarantees of the s390x ELF ABI to a kernel, and its requirements.
 *
 * Source: IBM, "ELF Application Binary Interface, s390x Supplement", 1.2.2 (registers: r6 to r13,
 * though r6 has the fifth argument, r15, f8 to f15, the rounding mode in FPC) and 1.2.2.2 (the
 * stack frame: the callee saves registers in the 160 bytes at the bottom of the caller's frame, of
 * which the first eight, the back chain, are not its own; nothing below r15 survives). */
#define _GNU_SOURCE
#include "../machine.h"
#include "state.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <ucontext.h>

enum {
  CAPABILITY_VECTORS = 1 << 11,
  FPC_JUNK = 2, /* rounding up */
  FPC_CONTROL = 7,
  REGISTER_STACK = 15,
  ARGUMENTS = 5, /* r2 .. r6 */
  SAVE_AREA = 8, /* in the caller's frame */
  SAVE_AREA_END = 160,
};

_Static_assert(offsetof(struct state, fpc) == STATE_FPC, "state.h");
_Static_assert(offsetof(struct state, vectors) == STATE_VECTORS, "state.h");
_Static_assert(sizeof(struct state) == STATE_BYTES, "state.h");

const char *const machine_abi_names[2] = {"s390x ELF", NULL};

void machine_probe(void) { harness_vectors = (getauxval(AT_HWCAP) & CAPABILITY_VECTORS) != 0; }

size_t machine_scalable_bytes(void) { return 0; }

void machine_load(const struct call *call, uint8_t frame[FRAME_BYTES]) {
  uint64_t state = call->seed * 2 + 1;
  for (int i = 0; i < 16; i++) {
    harness_before.gpr[i] = junk_word(&state);
  }
  memcpy(harness_before.gpr + 2, call->arguments, ARGUMENTS * sizeof *call->arguments);
  harness_before.gpr[REGISTER_STACK] = (uintptr_t)stack_frame();
  harness_before.fpc = FPC_JUNK;
  junk_bytes(&state, harness_before.vectors, sizeof harness_before.vectors);
  stack_fill(&state, frame);
}

bool machine_check(const struct call *call, const uint8_t frame[FRAME_BYTES], char *failure,
                   size_t size) {
  (void)call;
  const struct state *before = &harness_before, *after = &harness_after;
  if (after->gpr[REGISTER_STACK] != before->gpr[REGISTER_STACK]) {
    snprintf(failure, size, "returns with r15 off by %lld bytes",
             (long long)(after->gpr[REGISTER_STACK] - before->gpr[REGISTER_STACK]));
    return false;
  }
  for (int i = 6; i <= 13; i++) {
    if (after->gpr[i] != before->gpr[i]) {
      snprintf(failure, size, "clobbers r%d, which is callee-saved", i);
      return false;
    }
  }
  for (int i = 8; i <= 15; i++) {
    if (memcmp(after->vectors[i], before->vectors[i], 8) != 0) {
      snprintf(failure, size, "clobbers f%d, which is callee-saved", i);
      return false;
    }
  }
  if (((after->fpc ^ before->fpc) & FPC_CONTROL) != 0) {
    snprintf(failure, size, "changes the rounding mode");
    return false;
  }
  return stack_check(frame, SAVE_AREA, SAVE_AREA_END, failure, size);
}

uintptr_t machine_instruction(const void *context) {
  return ((const ucontext_t *)context)->uc_mcontext.psw.addr;
}

enum access machine_access(const void *context) {
  (void)context; /* signal handlers do not get the translation exception code */
  return ACCESS_UNKNOWN;
}

bool machine_step(struct call *call, void *context) {
  /* qemu-user cannot single-step; it can log every instruction instead */
  (void)call, (void)context;
  return false;
}
