/* abi.c: the guarantees of the ELFv2 ABI to a kernel, and its requirements.
 *
 * Source: OpenPOWER, "64-Bit ELF V2 ABI Specification", 2.2.2 (registers: r1, r13, r14 to r31, f14
 * to f31, v20 to v31, CR2 to CR4, VRSAVE, the control bits of FPSCR; r2 is restored by a caller
 * that calls through a pointer) and 2.2.3 (the stack frame: the callee may write the CR and LR save
 * words of the caller's frame, and with five arguments there is no parameter save area). */
#define _GNU_SOURCE
#include "../machine.h"
#include "state.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

enum {
  CR_JUNK = 0x5a3c96e1,
  CR_SAVED = 0x00fff000, /* fields 2, 3 and 4 */
  XER_JUNK = 0x20000000, /* carry */
  VRSAVE_JUNK = 0x12345678,
  FPSCR_JUNK = 2, /* rounding up */
  FPSCR_CONTROL = 0xff,
  ARGUMENTS = 5,  /* r3 .. r7 */
  SAVE_WORDS = 8, /* of CR and LR in the caller's frame: bytes 8 to 23 */
  SAVE_WORDS_END = 24,
  REGISTER_THREAD = 13,
  REGISTER_NIP = 32, /* of gp_regs */
};

_Static_assert(offsetof(struct state, cr) == STATE_CR, "state.h");
_Static_assert(offsetof(struct state, xer) == STATE_XER, "state.h");
_Static_assert(offsetof(struct state, vrsave) == STATE_VRSAVE, "state.h");
_Static_assert(offsetof(struct state, fpscr) == STATE_FPSCR, "state.h");
_Static_assert(offsetof(struct state, vectors) == STATE_VECTORS, "state.h");
_Static_assert(sizeof(struct state) == STATE_BYTES, "state.h");

const char *const machine_abi_names[2] = {"ELFv2", NULL};

void machine_probe(void) {} /* POWER8, the weakest CPU, has all these registers */

size_t machine_scalable_bytes(void) { return 0; }

void machine_load(const struct call *call, uint8_t frame[FRAME_BYTES]) {
  uint64_t state = call->seed * 2 + 1;
  for (int i = 0; i < 32; i++) {
    harness_before.gpr[i] = junk_word(&state);
  }
  memcpy(harness_before.gpr + 3, call->arguments, ARGUMENTS * sizeof *call->arguments);
  harness_before.gpr[1] = (uintptr_t)stack_frame();
  harness_before.cr = CR_JUNK;
  harness_before.xer = XER_JUNK;
  harness_before.vrsave = VRSAVE_JUNK;
  harness_before.fpscr = FPSCR_JUNK;
  junk_bytes(&state, harness_before.vectors, sizeof harness_before.vectors);
  stack_fill(&state, frame);
  __asm__("mr %0, 13" : "=r"(harness_before.gpr[REGISTER_THREAD]));
}

static const char *check_registers(char *text, size_t size) {
  const struct state *before = &harness_before, *after = &harness_after;
  for (int i = 13; i < 32; i++) {
    if (after->gpr[i] != before->gpr[i]) {
      snprintf(text, size, "clobbers r%d, which is callee-saved", i);
      return text;
    }
  }
  for (int i = 14; i < 32; i++) { /* the first half of vs14 .. vs31 */
    if (memcmp(after->vectors[i], before->vectors[i], 8) != 0) {
      snprintf(text, size, "clobbers f%d, which is callee-saved", i);
      return text;
    }
  }
  for (int i = 20; i < 32; i++) { /* vs52 .. vs63 */
    if (memcmp(after->vectors[32 + i], before->vectors[32 + i], 16) != 0) {
      snprintf(text, size, "clobbers v%d, which is callee-saved", i);
      return text;
    }
  }
  if (((after->cr ^ before->cr) & CR_SAVED) != 0) {
    return "clobbers CR2, CR3 or CR4, which are callee-saved";
  }
  if (after->vrsave != before->vrsave) {
    return "changes VRSAVE";
  }
  if (((after->fpscr ^ before->fpscr) & FPSCR_CONTROL) != 0) {
    return "changes the control bits of FPSCR";
  }
  return NULL;
}

bool machine_check(const struct call *call, const uint8_t frame[FRAME_BYTES], char *failure,
                   size_t size) {
  (void)call;
  if (harness_after.gpr[1] != harness_before.gpr[1]) {
    snprintf(failure, size, "returns with r1 off by %lld bytes",
             (long long)(harness_after.gpr[1] - harness_before.gpr[1]));
    return false;
  }
  const char *wrong = check_registers(failure, size);
  if (wrong == NULL) {
    return stack_check(frame, SAVE_WORDS, SAVE_WORDS_END, failure, size);
  }
  if (wrong != failure) {
    snprintf(failure, size, "%s", wrong);
  }
  return false;
}

uintptr_t machine_instruction(const void *context) {
  return ((const ucontext_t *)context)->uc_mcontext.gp_regs[REGISTER_NIP];
}

enum access machine_access(const void *context) {
  (void)context; /* real machines report it in DSISR, qemu-user does not */
  return ACCESS_UNKNOWN;
}

bool machine_step(struct call *call, void *context) {
  /* qemu-user cannot single-step; it can log every instruction instead */
  (void)call, (void)context;
  return false;
}
