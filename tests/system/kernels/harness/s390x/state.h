/* state.h: the register state of an s390x (with vector registers from z13 on) around a call, as
 * trampoline.S loads and saves it.
 *
 * The C compiler and the assembler read this file; abi.c checks the offsets. */
#ifndef GFSMITH_TEST_STATE_H
#define GFSMITH_TEST_STATE_H

#define STATE_GPR(n) (8 * (n))
#define STATE_FPC 128
#define STATE_VECTORS 144 /* v0 .. v31; the first halves of v0 .. v15 are f0 .. f15 */
#define STATE_VECTOR(n) (STATE_VECTORS + 16 * (n))
#define STATE_BYTES (STATE_VECTORS + 16 * 32)

#ifndef __ASSEMBLER__
#include <stdint.h>

struct state {
  uint64_t gpr[16];
  uint32_t fpc, unused[3];
  uint8_t vectors[32][16];
};

/* trampoline.S: loads harness_before, calls harness_code, stores harness_after. */
extern HIDDEN struct state harness_before, harness_after;
extern HIDDEN uint64_t harness_vectors; /* 1: there are vector registers */
#endif

#endif
