/* state.h: the register state of a LoongArch64, with LSX or LASX if present, around a call, as
 * trampoline.S loads and saves it.
 *
 * The C compiler and the assembler read this file; abi.c checks the offsets. */
#ifndef GFSMITH_TEST_STATE_H
#define GFSMITH_TEST_STATE_H

#define STATE_GPR(n) (8 * (n))
#define STATE_FCSR 256
#define STATE_VECTORS 288 /* xr0 .. xr31, whose first 16 bytes are vr0 .., and first 8 f0 .. */
#define STATE_VECTOR(n) (STATE_VECTORS + 32 * (n))
#define STATE_BYTES STATE_VECTOR(32)

#ifndef __ASSEMBLER__
#include <stdint.h>

struct state {
  uint64_t gpr[32];
  uint64_t fcsr, unused[3];
  uint8_t vectors[32][32];
};

/* trampoline.S: loads harness_before, calls harness_code, stores harness_after. */
extern HIDDEN struct state harness_before, harness_after;
extern HIDDEN uint64_t harness_vectors; /* bytes of a vector: 32, 16, or 0 without vectors */
#endif

#endif
