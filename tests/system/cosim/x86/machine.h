/* machine.h: the registers of one machine state, for C and for assembly.
 *
 * General registers are in the order of their numbers: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi,
 * r8-r15.
 */
#ifndef COSIM_MACHINE_H
#define COSIM_MACHINE_H

#define REGISTERS_GPR(n) (8 * (n))
#define REGISTERS_RFLAGS 128
#define REGISTERS_MASKS 136
#define REGISTERS_VECTOR(n) (256 + 64 * (n))
#define REGISTERS_BYTES 2304

/* Amount of vector state: 16 xmm; 16 ymm; 32 zmm and 8 masks of 64 bits. */
#define LEVEL_SSE 0
#define LEVEL_AVX 1
#define LEVEL_AVX512 2

#endif
