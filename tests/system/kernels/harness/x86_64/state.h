/* state.h: the register state of an x86-64 around a call, as trampoline.S loads and saves it.
 *
 * The C compiler and the assembler read this file; abi.c checks the offsets. */
#ifndef GFSMITH_TEST_STATE_H
#define GFSMITH_TEST_STATE_H

/* General registers, in the order of the instruction encoding. */
#define GPR_RAX 0
#define GPR_RCX 1
#define GPR_RDX 2
#define GPR_RBX 3
#define GPR_RSP 4
#define GPR_RBP 5
#define GPR_RSI 6
#define GPR_RDI 7
#define GPR_R8 8
#define GPR_R9 9
#define GPR_R10 10
#define GPR_R11 11
#define GPR_R12 12
#define GPR_R13 13
#define GPR_R14 14
#define GPR_R15 15

#define STATE_GPR(n) (8 * (n))
#define STATE_RFLAGS 128
#define STATE_MXCSR 136
#define STATE_XINUSE 140
#define STATE_X87 144
#define STATE_MASKS 192
#define STATE_VECTORS 256
#define STATE_VECTOR(n) (STATE_VECTORS + 64 * (n))
#define STATE_BYTES (STATE_VECTORS + 64 * 32)

/* Width of this CPU's vector registers. */
#define LEVEL_SSE 0
#define LEVEL_AVX 1
#define LEVEL_AVX512 2

#ifndef __ASSEMBLER__
#include <stdint.h>

struct state {
  uint64_t gpr[16];
  uint64_t rflags;
  uint32_t mxcsr;
  uint32_t xinuse;
  uint16_t x87[24]; /* as fnstenv stores it: control, -, status, -, tag, ... */
  uint64_t masks[8];
  uint8_t vectors[32][64];
};

/* trampoline.S: loads harness_before, calls harness_code, stores harness_after. */
extern HIDDEN struct state harness_before, harness_after;
extern HIDDEN int harness_level, harness_dirty_uppers, harness_xinuse;
extern HIDDEN const char harness_returned[];

#endif

#endif
