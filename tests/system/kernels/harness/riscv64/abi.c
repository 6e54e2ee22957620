/* abi.c: the guarantees of the standard calling convention of RISC-V to a kernel, and its
 * requirements.
 *
 * Source: RISC-V International, "RISC-V ABIs Specification", 1 (registers: sp, gp, tp, s0 to s11,
 * fs0 to fs11; vstart is zero at entry and at return; all vector registers, vl, vtype, vxrm and
 * vxsat are the callee's) and 2 (nothing below sp survives, nothing at or above it is the
 * callee's). frm belongs to the thread, so a kernel must not change it. */
#define _GNU_SOURCE
#include "../machine.h"
#include "state.h"

#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

enum {
  ROUNDING = 0xe0,  /* frm in fcsr */
  FCSR_JUNK = 0x4f, /* rounding down, two flags raised and two not */
  REGISTER_SP = 2,
  REGISTER_GP = 3,
  REGISTER_TP = 4,
  REGISTER_A0 = 10,
  ARGUMENTS = 5, /* a0 .. a4 */
};

_Static_assert(offsetof(struct state, fpr) == STATE_FPR(0), "state.h");
_Static_assert(offsetof(struct state, fcsr) == STATE_FCSR, "state.h");
_Static_assert(offsetof(struct state, vstart) == STATE_VSTART, "state.h");
_Static_assert(offsetof(struct state, vectors) == STATE_VECTORS, "state.h");
_Static_assert(sizeof(struct state) == STATE_BYTES, "state.h");

const char *const machine_abi_names[2] = {"RISC-V lp64d", NULL};

static const int saved[] = {3, 4, 8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27};
static const char *const names[] = {"gp", "tp", "s0", "s1", "s2", "s3",  "s4",
                                    "s5", "s6", "s7", "s8", "s9", "s10", "s11"};
enum { SAVED = sizeof saved / sizeof saved[0], SAVED_FLOATS_FROM = 2 };

static sigjmp_buf no_vectors;

static void on_illegal(int number) {
  (void)number;
  siglongjmp(no_vectors, 1);
}

/* AT_HWCAP of qemu 7.2 does not report V, so the instruction itself is tried. */
void machine_probe(void) {
  struct sigaction action = {.sa_handler = on_illegal}, previous;
  sigaction(SIGILL, &action, &previous);
  if (sigsetjmp(no_vectors, 1) == 0) {
    uint64_t bytes;
    __asm__ volatile("csrr %0, 0xc22" : "=r"(bytes)); /* vlenb */
    harness_vlenb = bytes;
  }
  sigaction(SIGILL, &previous, NULL);
}

size_t machine_scalable_bytes(void) { return harness_vlenb; }

void machine_load(const struct call *call, uint8_t frame[FRAME_BYTES]) {
  uint64_t state = call->seed * 2 + 1;
  for (int i = 0; i < 32; i++) {
    harness_before.gpr[i] = junk_word(&state);
  }
  memcpy(harness_before.gpr + REGISTER_A0, call->arguments, ARGUMENTS * sizeof *call->arguments);
  harness_before.gpr[REGISTER_SP] = (uintptr_t)stack_frame();
  __asm__("mv %0, gp" : "=r"(harness_before.gpr[REGISTER_GP]));
  __asm__("mv %0, tp" : "=r"(harness_before.gpr[REGISTER_TP]));
  harness_before.fcsr = FCSR_JUNK;
  junk_bytes(&state, harness_before.fpr, sizeof harness_before.fpr);
  junk_bytes(&state, harness_before.vectors, 32 * harness_vlenb);
  stack_fill(&state, frame);
}

bool machine_check(const struct call *call, const uint8_t frame[FRAME_BYTES], char *failure,
                   size_t size) {
  (void)call;
  const struct state *before = &harness_before, *after = &harness_after;
  if (after->gpr[REGISTER_SP] != before->gpr[REGISTER_SP]) {
    snprintf(failure, size, "returns with sp off by %lld bytes",
             (long long)(after->gpr[REGISTER_SP] - before->gpr[REGISTER_SP]));
    return false;
  }
  for (int i = 0; i < SAVED; i++) {
    if (after->gpr[saved[i]] != before->gpr[saved[i]]) {
      snprintf(failure, size, "clobbers %s, which is callee-saved", names[i]);
      return false;
    }
    if (i >= SAVED_FLOATS_FROM && after->fpr[saved[i]] != before->fpr[saved[i]]) {
      snprintf(failure, size, "clobbers f%s, which is callee-saved", names[i]);
      return false;
    }
  }
  if (((after->fcsr ^ before->fcsr) & ROUNDING) != 0) {
    snprintf(failure, size, "changes the rounding mode");
    return false;
  }
  if (after->vstart != 0) {
    snprintf(failure, size, "leaves vstart at %llu", (unsigned long long)after->vstart);
    return false;
  }
  return stack_check(frame, 0, 0, failure, size);
}

uintptr_t machine_instruction(const void *context) {
  return ((const ucontext_t *)context)->uc_mcontext.__gregs[REG_PC];
}

enum access machine_access(const void *context) {
  (void)context; /* signal handlers do not get the cause */
  return ACCESS_UNKNOWN;
}

bool machine_step(struct call *call, void *context) {
  /* qemu-user cannot single-step; it can log every instruction instead */
  (void)call, (void)context;
  return false;
}
