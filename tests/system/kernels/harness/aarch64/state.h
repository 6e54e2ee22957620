/* state.h: the register state of an AArch64 around a call, as trampoline.S loads and saves it.
 *
 * The C compiler and the assembler read this file; abi.c checks the offsets. */
#ifndef GFSMITH_TEST_STATE_H
#define GFSMITH_TEST_STATE_H

#define STATE_GPR(n) (8 * (n))
#define STATE_SP 248
#define STATE_FPCR 256
#define STATE_NZCV 264
#define STATE_PREDICATES                                                                           \
  512 /* p0 .. p15 as `str p, [x, #n, mul vl]` stores them, then the first-fault register */
#define STATE_VECTORS 1056 /* v0 .. v31, or z0 .. z31 one vector length apart */
#define STATE_BYTES (STATE_VECTORS + 32 * 256)

#ifndef __ASSEMBLER__
#include <stdint.h>

struct state {
  uint64_t gpr[31];
  uint64_t sp, fpcr, nzcv;
  uint64_t unused[30];
  uint8_t predicates[17][32];
  uint8_t vectors[32 * 256];
};

/* trampoline.S: loads harness_before, calls harness_code, stores harness_after. */
extern HIDDEN struct state harness_before, harness_after;
extern HIDDEN uint64_t harness_sve; /* bytes of a vector; 0: none */
#endif

#endif
