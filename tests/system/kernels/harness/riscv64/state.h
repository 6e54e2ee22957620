/* state.h: the register state of an RV64GC, with V if present, around a call, as trampoline.S loads
 * and saves it.
 *
 * The C compiler and the assembler read this file; abi.c checks the offsets. */
#ifndef GFSMITH_TEST_STATE_H
#define GFSMITH_TEST_STATE_H

#define STATE_GPR(n) (8 * (n))
#define STATE_FPR(n) (256 + 8 * (n))
#define STATE_FCSR 512
#define STATE_VSTART 520
#define STATE_VECTORS 528 /* v0 .. v31, one vector length apart */
#define STATE_BYTES (STATE_VECTORS + 32 * 128)

#ifndef __ASSEMBLER__
#include <stdint.h>

struct state {
  uint64_t gpr[32];
  uint64_t fpr[32];
  uint64_t fcsr, vstart;
  uint8_t vectors[32 * 128];
};

/* trampoline.S: loads harness_before, calls harness_code, stores harness_after. */
extern HIDDEN struct state harness_before, harness_after;
extern HIDDEN uint64_t harness_vlenb; /* bytes of a vector; 0: none */
#endif

#endif
