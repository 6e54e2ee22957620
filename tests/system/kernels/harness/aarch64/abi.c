/* abi.c: the guarantees of the procedure call standard for AArch64 to a kernel, and its
 * requirements.
 *
 * Source: Arm, "Procedure Call Standard for the Arm 64-bit Architecture", 6.1 (registers: x19 to
 * x29, the lower halves of v8 to v15), 6.1.2 (FPCR), 6.2 (the stack: nothing below sp survives,
 * nothing at or above it belongs to the callee). */
#define _GNU_SOURCE
#include "../machine.h"
#include "state.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <ucontext.h>

enum {
  CAPABILITY_SVE = 1 << 22,
  NZCV_JUNK = 0x60000000, /* zero and carry */
  FPCR_JUNK = 0x03400000, /* flush to zero, default NaN, rounding up */
  ARGUMENTS = 5,          /* x0 .. x4 */
};

_Static_assert(offsetof(struct state, sp) == STATE_SP, "state.h");
_Static_assert(offsetof(struct state, fpcr) == STATE_FPCR, "state.h");
_Static_assert(offsetof(struct state, nzcv) == STATE_NZCV, "state.h");
_Static_assert(offsetof(struct state, predicates) == STATE_PREDICATES, "state.h");
_Static_assert(offsetof(struct state, vectors) == STATE_VECTORS, "state.h");
_Static_assert(sizeof(struct state) == STATE_BYTES, "state.h");

const char *const machine_abi_names[2] = {"AAPCS64", NULL};

void machine_probe(void) {
  if ((getauxval(AT_HWCAP) & CAPABILITY_SVE) != 0) {
    __asm__(".arch_extension sve\n\trdvl %0, #1" : "=r"(harness_sve));
  }
}

size_t machine_scalable_bytes(void) { return harness_sve; }

static size_t vector_bytes(void) { return harness_sve != 0 ? harness_sve : 16; }

void machine_load(const struct call *call, uint8_t frame[FRAME_BYTES]) {
  uint64_t state = call->seed * 2 + 1;
  for (int i = 0; i < 31; i++) {
    harness_before.gpr[i] = junk_word(&state);
  }
  memcpy(harness_before.gpr, call->arguments, ARGUMENTS * sizeof *call->arguments);
  harness_before.sp = (uintptr_t)stack_frame();
  harness_before.fpcr = FPCR_JUNK;
  harness_before.nzcv = NZCV_JUNK;
  junk_bytes(&state, harness_before.vectors, 32 * vector_bytes());
  junk_bytes(&state, harness_before.predicates, 16 * vector_bytes() / 8);
  /* The first-fault register holds a prefix of lanes: all of them, or none. */
  memset((uint8_t *)harness_before.predicates + 16 * vector_bytes() / 8,
         call->dirty_uppers ? 0xff : 0, vector_bytes() / 8);
  stack_fill(&state, frame);
}

bool machine_check(const struct call *call, const uint8_t frame[FRAME_BYTES], char *failure,
                   size_t size) {
  (void)call;
  const struct state *before = &harness_before, *after = &harness_after;
  if (after->sp != before->sp) {
    snprintf(failure, size, "returns with sp off by %lld bytes",
             (long long)(after->sp - before->sp));
    return false;
  }
  for (int i = 19; i <= 29; i++) {
    if (after->gpr[i] != before->gpr[i]) {
      snprintf(failure, size, "clobbers x%d, which is callee-saved", i);
      return false;
    }
  }
  for (size_t i = 8; i <= 15; i++) {
    size_t at = i * vector_bytes();
    if (memcmp(after->vectors + at, before->vectors + at, 8) != 0) {
      snprintf(failure, size, "clobbers d%zu, which is callee-saved", i);
      return false;
    }
  }
  if (after->fpcr != before->fpcr) {
    snprintf(failure, size, "changes FPCR");
    return false;
  }
  return stack_check(frame, 0, 0, failure, size);
}

uintptr_t machine_instruction(const void *context) {
  return ((const ucontext_t *)context)->uc_mcontext.pc;
}

enum access machine_access(const void *context) {
  (void)context; /* real machines supply the syndrome, qemu-user does not */
  return ACCESS_UNKNOWN;
}

bool machine_step(struct call *call, void *context) {
  /* qemu-user cannot single-step; it can log every instruction instead */
  (void)call, (void)context;
  return false;
}
