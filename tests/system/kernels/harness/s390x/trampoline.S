/* trampoline.S: enters a kernel with every register of the machine set, and saves all registers
 * afterwards.
 *
 * void harness_trampoline(void) loads `harness_before`, calls `harness_code` and stores
 * `harness_after`. It assumes nothing about the ABI except that r1 is free at a call and a return,
 * and that r14 is the return address. All its memory is at fixed addresses, found from the program
 * counter, because after the call no register can be trusted. */
#include "state.h"

        .machine z13

        .macro  floats what
        .irp    n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        \what   %f\n, STATE_VECTOR(\n)(%r1)
        .endr
        .endm

        .text
        .globl  harness_trampoline
        .hidden harness_trampoline
        .type   harness_trampoline, @function
harness_trampoline:
        larl    %r1, own_registers
        stmg    %r6, %r15, STATE_GPR(6)(%r1)
        stfpc   STATE_FPC(%r1)
        floats  std

        larl    %r1, harness_before
        lfpc    STATE_FPC(%r1)
        larl    %r2, harness_vectors
        lg      %r2, 0(%r2)
        cgije   %r2, 0, load_floats
        vlm     %v0, %v15, STATE_VECTOR(0)(%r1)
        vlm     %v16, %v31, STATE_VECTOR(16)(%r1)
        j       load_general
load_floats:
        floats  ld
load_general:
        lg      %r0, STATE_GPR(0)(%r1)
        lmg     %r2, %r13, STATE_GPR(2)(%r1)
        lg      %r15, STATE_GPR(15)(%r1)
        lgrl    %r1, harness_code
        basr    %r14, %r1

        larl    %r1, harness_after
        stmg    %r2, %r15, STATE_GPR(2)(%r1)
        stfpc   STATE_FPC(%r1)
        floats  std

        larl    %r1, own_registers
        lfpc    STATE_FPC(%r1)
        floats  ld
        lmg     %r6, %r15, STATE_GPR(6)(%r1)
        br      %r14
        .size   harness_trampoline, .-harness_trampoline

#include "../data.S"

        .bss
        .balign 64
        data    harness_before, STATE_BYTES
        .balign 16
        data    harness_after, STATE_BYTES
        data    harness_code, 8
        data    harness_vectors, 8
own_registers:
        .skip   STATE_BYTES

        .section .note.GNU-stack, "", @progbits
