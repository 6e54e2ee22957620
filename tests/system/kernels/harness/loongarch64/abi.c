/* abi.c: the guarantees of the standard calling convention of LoongArch (lp64d) to a kernel, and
 * its requirements.
 *
 * Source: Loongson, "LoongArch ELF psABI", register conventions: ra, tp, sp, fp and s0 to s8 are
 * preserved, r21 is reserved, and so are the lower 64 bits of fs0 to fs7; everything else is the
 * callee's. The rounding mode in fcsr0 belongs to the thread, so a kernel must not change it. */
#define _GNU_SOURCE
#include "../machine.h"
#include "state.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <ucontext.h>

enum {
  ROUNDING = 0x300,             /* RM in fcsr0 */
  FCSR_JUNK = 0x300 | 0x1d0000, /* rounding down, some flags raised; no exception enabled */
  HAS_LSX = 1 << 4,             /* AT_HWCAP */
  HAS_LASX = 1 << 5,
  REGISTER_SP = 3,
  REGISTER_A0 = 4,
  ARGUMENTS = 5, /* a0 .. a4 */
  FIRST_SAVED_FLOAT = 24,
};

_Static_assert(offsetof(struct state, fcsr) == STATE_FCSR, "state.h");
_Static_assert(offsetof(struct state, vectors) == STATE_VECTORS, "state.h");
_Static_assert(sizeof(struct state) == STATE_BYTES, "state.h");

const char *const machine_abi_names[2] = {"LoongArch lp64d", NULL};

static const int saved[] = {2, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
static const char *const names[] = {"tp", "r21", "fp", "s0", "s1", "s2",
                                    "s3", "s4",  "s5", "s6", "s7", "s8"};
enum { SAVED = sizeof saved / sizeof saved[0] };

void machine_probe(void) {
  unsigned long has = getauxval(AT_HWCAP);
  harness_vectors = (has & HAS_LASX) != 0 ? 32 : (has & HAS_LSX) != 0 ? 16 : 0;
}

size_t machine_scalable_bytes(void) { return 0; }

void machine_load(const struct call *call, uint8_t frame[FRAME_BYTES]) {
  uint64_t state = call->seed * 2 + 1;
  for (int i = 0; i < 32; i++) {
    harness_before.gpr[i] = junk_word(&state);
  }
  memcpy(harness_before.gpr + REGISTER_A0, call->arguments, ARGUMENTS * sizeof *call->arguments);
  harness_before.gpr[REGISTER_SP] = (uintptr_t)stack_frame();
  __asm__("move %0, $tp" : "=r"(harness_before.gpr[2]));
  __asm__("move %0, $r21" : "=r"(harness_before.gpr[21]));
  harness_before.fcsr = FCSR_JUNK;
  junk_bytes(&state, harness_before.vectors, sizeof harness_before.vectors);
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
  }
  for (int i = FIRST_SAVED_FLOAT; i < 32; i++) {
    if (memcmp(after->vectors[i], before->vectors[i], 8) != 0) {
      snprintf(failure, size, "clobbers fs%d, which is callee-saved", i - FIRST_SAVED_FLOAT);
      return false;
    }
  }
  if (((after->fcsr ^ before->fcsr) & ROUNDING) != 0) {
    snprintf(failure, size, "changes the rounding mode");
    return false;
  }
  return stack_check(frame, 0, 0, failure, size);
}

uintptr_t machine_instruction(const void *context) {
  return ((const ucontext_t *)context)->uc_mcontext.__pc;
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
