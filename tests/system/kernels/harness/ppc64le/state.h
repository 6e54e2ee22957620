/* state.h: the register state of a little-endian POWER8 or later around a call, as trampoline.S
 * loads and saves it.
 *
 * The C compiler and the assembler read this file; abi.c checks the offsets. */
#ifndef GFSMITH_TEST_STATE_H
#define GFSMITH_TEST_STATE_H

#define STATE_GPR(n) (8 * (n))
#define STATE_CR 256
#define STATE_XER 264
#define STATE_VRSAVE 272
#define STATE_FPSCR 280
#define STATE_VECTORS 288 /* vs0 .. vs63 as lxvd2x loads them: the register's first half first */
#define STATE_BYTES (STATE_VECTORS + 16 * 64)

#ifndef __ASSEMBLER__
#include <stdint.h>

struct state {
  uint64_t gpr[32];
  uint64_t cr, xer, vrsave, fpscr;
  uint8_t vectors[64][16];
};

/* trampoline.S: loads harness_before, calls harness_code, stores harness_after. */
extern HIDDEN struct state harness_before, harness_after;
#endif

#endif
