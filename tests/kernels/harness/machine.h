/* machine.h: the machine state around a call, as trampoline.S loads and saves it.
 *
 * Read by the C compiler and the assembler; the offsets are checked in call.c.
 */
#ifndef GFSMITH_TEST_MACHINE_H
#define GFSMITH_TEST_MACHINE_H

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

#define MACHINE_GPR(n) (8 * (n))
#define MACHINE_RFLAGS 128
#define MACHINE_MXCSR 136
#define MACHINE_XINUSE 140
#define MACHINE_X87 144
#define MACHINE_MASKS 192
#define MACHINE_VECTORS 256
#define MACHINE_VECTOR(n) (MACHINE_VECTORS + 64 * (n))
#define MACHINE_BYTES (MACHINE_VECTORS + 64 * 32)

/* Width of the vector registers that this CPU has. */
#define LEVEL_SSE 0
#define LEVEL_AVX 1
#define LEVEL_AVX512 2

#ifndef __ASSEMBLER__
#include "harness.h"

struct machine {
  uint64_t gpr[16];
  uint64_t rflags;
  uint32_t mxcsr;
  uint32_t xinuse;
  uint16_t x87[24]; /* as fnstenv stores it: control, -, status, -, tag, ... */
  uint64_t masks[8];
  uint8_t vectors[32][64];
};

/* trampoline.S: loads harness_before, calls harness_code, stores harness_after. */
#define HIDDEN __attribute__((visibility("hidden")))
extern HIDDEN struct machine harness_before, harness_after;
extern HIDDEN const char *harness_code;
extern HIDDEN int harness_level, harness_dirty_uppers, harness_xinuse;
extern HIDDEN const char harness_returned[];
HIDDEN void harness_trampoline(void);

/* abi.c: what a call loads, and what it must leave behind. */
enum {
  FLAG_TRAP = 0x100,
  FLAG_DIRECTION = 0x400,
  FRAME_BYTES = 1024, /* the caller's frame, above the return address */
  BELOW_BYTES = 1024, /* junk below the stack pointer */
};
void abi_probe_machine(void);
/* `frame` becomes a copy of what the caller's frame holds above the return address. */
void abi_load(const struct call *, uint8_t frame[FRAME_BYTES]);
bool abi_check(const struct call *, const uint8_t frame[FRAME_BYTES], char *failure, size_t size);
#endif

#endif
