/* abi.c: the guarantees of the System V and the Microsoft x64 ABI to a kernel, and their
 * requirements.
 *
 * Sources: System V Application Binary Interface, AMD64 supplement, 3.2 (registers, stack frame,
 * red zone); Microsoft, "x64 calling convention" and "x64 stack usage". The kernel runs on its own
 * stack, on which every byte above the return address is known. */
#define _GNU_SOURCE
#include "../machine.h"
#include "state.h"

#include <stdio.h>
#include <string.h>
#include <ucontext.h>

enum {
  FLAG_TRAP = 0x100,
  FLAG_DIRECTION = 0x400,
  RED_ZONE_BYTES = 128, /* System V: signal handlers preserve these bytes below rsp */
  PAGE_FAULT_WRITE = 2, /* in the error code of a page fault */
  FLAGS_JUNK = 0x8d7,   /* carry, parity, adjust, zero, sign, overflow; bit 1 is always set */
  MXCSR_JUNK = 0xdfff,  /* all masked, all raised, flush to zero, rounding up */
  X87_CONTROL_JUNK = 0x0b7f,
  XINUSE_AVX = 0x4,
  XINUSE_ZMM_UPPER = 0x40,
};

_Static_assert(offsetof(struct state, rflags) == STATE_RFLAGS, "state.h");
_Static_assert(offsetof(struct state, mxcsr) == STATE_MXCSR, "state.h");
_Static_assert(offsetof(struct state, xinuse) == STATE_XINUSE, "state.h");
_Static_assert(offsetof(struct state, x87) == STATE_X87, "state.h");
_Static_assert(offsetof(struct state, masks) == STATE_MASKS, "state.h");
_Static_assert(offsetof(struct state, vectors) == STATE_VECTORS, "state.h");
_Static_assert(sizeof(struct state) == STATE_BYTES, "state.h");

const char *const machine_abi_names[2] = {"System V", "Microsoft"};

static const char *const register_names[16] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp",
                                               "rsi", "rdi", "r8",  "r9",  "r10", "r11",
                                               "r12", "r13", "r14", "r15"};

/* ---- before ---- */

static __attribute__((target("avx"))) uint32_t in_use(bool dirty) {
  uint32_t low, high;
  if (dirty) {
    __asm__ volatile("vpcmpeqb %%xmm0, %%xmm0, %%xmm0\n\tvinsertf128 $1, %%xmm0, %%ymm0, %%ymm0\n\t"
                     "xgetbv\n\tvzeroupper"
                     : "=a"(low), "=d"(high)
                     : "c"(1)
                     : "xmm0");
  } else {
    __asm__ volatile("vzeroupper\n\txgetbv" : "=a"(low), "=d"(high) : "c"(1));
  }
  return low & (XINUSE_AVX | XINUSE_ZMM_UPPER);
}

/* Detects the CPU's registers, and whether XGETBV(1) distinguishes used from unused upper halves.
 */
void machine_probe(void) {
  static bool done;
  if (done) {
    return;
  }
  done = true;
  __builtin_cpu_init();
  harness_level = __builtin_cpu_supports("avx512bw") ? LEVEL_AVX512
                  : __builtin_cpu_supports("avx")    ? LEVEL_AVX
                                                     : LEVEL_SSE;
  if (harness_level >= LEVEL_AVX) {
    uint32_t a, b, c, d;
    __asm__ volatile("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(0xd), "c"(1));
    harness_xinuse = (a & 4u) != 0 && in_use(true) != 0 && in_use(false) == 0;
  }
}

size_t machine_scalable_bytes(void) { return 0; }

void machine_load(const struct call *call, uint8_t frame[FRAME_BYTES]) {
  static const int sysv[5] = {GPR_RDI, GPR_RSI, GPR_RDX, GPR_RCX, GPR_R8};
  static const int ms[4] = {GPR_RCX, GPR_RDX, GPR_R8, GPR_R9};
  uint64_t state = call->seed * 2 + 1;
  for (int i = 0; i < 16; i++) {
    harness_before.gpr[i] = junk_word(&state);
  }
  for (int i = 0; i < (call->abi == ABI_SYSV ? 5 : 4); i++) {
    harness_before.gpr[(call->abi == ABI_SYSV ? sysv : ms)[i]] = call->arguments[i];
  }
  harness_before.gpr[GPR_RSP] = (uintptr_t)stack_frame();
  harness_before.rflags = FLAGS_JUNK | (call->stepped ? FLAG_TRAP : 0);
  harness_before.mxcsr = MXCSR_JUNK;
  harness_before.x87[0] = X87_CONTROL_JUNK;
  uint64_t *vectors = (uint64_t *)(void *)harness_before.vectors;
  for (size_t i = 0; i < sizeof harness_before.vectors / 8; i++) {
    vectors[i] = next_random(&state);
  }
  for (int i = 0; i < 8; i++) {
    harness_before.masks[i] = next_random(&state);
  }

  stack_fill(&state, frame);
  if (call->abi == ABI_MS) { /* 32 bytes of shadow space, then the fifth argument */
    memcpy(frame + 32, &call->arguments[4], 8);
    memcpy(stack_frame() + 32, &call->arguments[4], 8);
  }
  harness_dirty_uppers = call->dirty_uppers;
}

/* ---- after ---- */

static const char *check_registers(const struct call *call, char *text, size_t size) {
  static const int saved[] = {GPR_RBX, GPR_RBP, GPR_R12, GPR_R13,
                              GPR_R14, GPR_R15, GPR_RDI, GPR_RSI};
  for (size_t i = 0; i < (call->abi == ABI_SYSV ? 6 : 8); i++) {
    if (harness_after.gpr[saved[i]] != harness_before.gpr[saved[i]]) {
      snprintf(text, size, "clobbers %s, which is callee-saved", register_names[saved[i]]);
      return text;
    }
  }
  for (int i = 6; call->abi == ABI_MS && i < 16; i++) {
    if (memcmp(harness_after.vectors[i], harness_before.vectors[i], 16) != 0) {
      snprintf(text, size, "clobbers xmm%d, which is callee-saved", i);
      return text;
    }
  }
  return NULL;
}

/* Bits 128 and up of the sixteen lower vector registers must be unchanged (never used, or used only
 * by legacy SSE) or all zero (vzeroupper): in between, legacy SSE code of the caller runs slowly.
 * If XGETBV(1) is available, a register that is zero by chance still counts as in use. */
static const char *check_uppers(const struct call *call, char *text, size_t size) {
  static const uint8_t zero[48];
  size_t width = harness_level == LEVEL_AVX512 ? 48 : harness_level == LEVEL_AVX ? 16 : 0;
  int not_zero = -1, changed = -1;
  for (int i = 0; i < 16; i++) {
    const uint8_t *before = call->dirty_uppers ? harness_before.vectors[i] + 16 : zero;
    not_zero = memcmp(harness_after.vectors[i] + 16, zero, width) != 0 ? i : not_zero;
    changed = memcmp(harness_after.vectors[i] + 16, before, width) != 0 ? i : changed;
  }
  if (not_zero >= 0 && changed >= 0) {
    snprintf(text, size, "leaves bits 128 and up of vector register %d in use (no vzeroupper)",
             not_zero);
    return text;
  }
  if (!call->dirty_uppers && harness_xinuse &&
      (harness_after.xinuse & (XINUSE_AVX | XINUSE_ZMM_UPPER)) != 0) {
    return "leaves the upper halves of the vector registers in use by XGETBV (no vzeroupper)";
  }
  return NULL;
}

static const char *check_state(void) {
  if ((harness_after.rflags & FLAG_DIRECTION) != 0) {
    return "leaves the direction flag set";
  }
  if (harness_after.mxcsr != MXCSR_JUNK) {
    return "changes MXCSR";
  }
  if (harness_after.x87[0] != X87_CONTROL_JUNK) {
    return "changes the x87 control word";
  }
  if (harness_after.x87[2] != 0 || harness_after.x87[4] != 0xffff) {
    return "leaves the x87/MMX state in use (no emms)";
  }
  return NULL;
}

bool machine_check(const struct call *call, const uint8_t frame[FRAME_BYTES], char *failure,
                   size_t size) {
  if (harness_after.gpr[GPR_RSP] != harness_before.gpr[GPR_RSP]) {
    snprintf(failure, size, "returns with rsp off by %lld bytes",
             (long long)(harness_after.gpr[GPR_RSP] - harness_before.gpr[GPR_RSP]));
    return false;
  }
  const char *wrong = NULL;
  if ((wrong = check_registers(call, failure, size)) == NULL && (wrong = check_state()) == NULL &&
      (wrong = check_uppers(call, failure, size)) == NULL) {
    return stack_check(frame, 0, call->abi == ABI_MS ? 32 : 0, failure, size);
  }
  if (wrong != failure) {
    snprintf(failure, size, "%s", wrong);
  }
  return false;
}

/* ---- signals ---- */

static const greg_t *registers_of(const void *context) {
  return ((const ucontext_t *)context)->uc_mcontext.gregs;
}

uintptr_t machine_instruction(const void *context) {
  return (uintptr_t)registers_of(context)[REG_RIP];
}

enum access machine_access(const void *context) {
  return (registers_of(context)[REG_ERR] & PAGE_FAULT_WRITE) != 0 ? ACCESS_WRITE : ACCESS_READ;
}

/* Runs after every instruction: overwrites the bytes that a signal handler may overwrite. */
bool machine_step(struct call *call, void *context) {
  greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
  uintptr_t rip = (uintptr_t)registers[REG_RIP];
  if (rip == (uintptr_t)harness_returned) {
    registers[REG_EFL] &= ~(greg_t)FLAG_TRAP;
    return true;
  }
  call->steps++;
  call->trace = (call->trace ^ rip) * UINT64_C(0x100000001b3);
  uint8_t *top = (uint8_t *)registers[REG_RSP] - (call->abi == ABI_SYSV ? RED_ZONE_BYTES : 0);
  uint8_t *base = arena_base(REGION_STACK);
  if (top >= base + BELOW_BYTES && top <= base + REGION_BYTES) {
    memset(top - 256, 0xc3, 256);
  }
  return true;
}
