/* trampoline.S: enters a kernel with every register of the machine set, and saves all registers
 * afterwards.
 *
 * void harness_trampoline(void) loads `harness_before`, calls `harness_code` and stores
 * `harness_after`. It assumes nothing about the ABI except that x16 and x17 are free at a call and
 * a return. All its memory is at fixed addresses, because after the call no register can be
 * trusted. */
#include "state.h"

        .arch   armv8.2-a+sve

        .macro  address register, symbol
        adrp    \register, \symbol
        add     \register, \register, :lo12:\symbol
        .endm

        /* str or ldr: every register that our caller expects unchanged */
        .macro  own what
        .irp    n, 18,19,20,21,22,23,24,25,26,27,28,29,30
        \what   x\n, [x16, #8*\n]
        .endr
        .irp    n, 8,9,10,11,12,13,14,15
        \what   d\n, [x16, #256+8*\n]
        .endr
        .endm

        .text
        .globl  harness_trampoline
        .hidden harness_trampoline
        .type   harness_trampoline, %function
harness_trampoline:
        address x16, own_registers
        own     str
        mov     x17, sp
        str     x17, [x16]
        mrs     x17, fpcr
        str     x17, [x16, #8]

        address x17, harness_sve
        ldr     x17, [x17]
        address x16, harness_before
        cbz     x17, load_neon
        add     x17, x16, #STATE_PREDICATES
        ldr     p0, [x17, #16, mul vl]
        wrffr   p0.b
        .irp    n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        ldr     p\n, [x17, #\n, mul vl]
        .endr
        add     x17, x16, #STATE_VECTORS
        .irp    n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        ldr     z\n, [x17, #\n, mul vl]
        .endr
        b       load_general
load_neon:
        .irp    n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        ldr     q\n, [x16, #STATE_VECTORS+16*\n]
        .endr

load_general:
        ldr     x17, [x16, #STATE_FPCR]
        msr     fpcr, x17
        ldr     x17, [x16, #STATE_NZCV]
        msr     nzcv, x17
        ldr     x17, [x16, #STATE_SP]
        mov     sp, x17
        .irp    n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,17,18,19,20,21,22,23,24,25,26,27,28,29
        ldr     x\n, [x16, #STATE_GPR(\n)]
        .endr
        address x16, harness_code
        ldr     x16, [x16]
        blr     x16

        address x16, harness_after
        .irp    n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,18,19,20,21,22,23,24,25,26,27,28,29,30
        str     x\n, [x16, #STATE_GPR(\n)]
        .endr
        mov     x17, sp
        str     x17, [x16, #STATE_SP]
        mrs     x17, fpcr
        str     x17, [x16, #STATE_FPCR]
        address x17, harness_sve
        ldr     x17, [x17]
        cbz     x17, store_neon
        add     x17, x16, #STATE_VECTORS
        .irp    n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        str     z\n, [x17, #\n, mul vl]
        .endr
        b       leave
store_neon:
        .irp    n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        str     q\n, [x16, #STATE_VECTORS+16*\n]
        .endr
leave:
        address x16, own_registers
        ldr     x17, [x16, #8]
        msr     fpcr, x17
        ldr     x17, [x16]
        mov     sp, x17
        own     ldr
        ret
        .size   harness_trampoline, .-harness_trampoline

#include "../data.S"

        .bss
        .balign 64
        data    harness_before, STATE_BYTES
        data    harness_after, STATE_BYTES
        data    harness_code, 8
        data    harness_sve, 8
own_registers:
        .skip   256+8*16

        .section .note.GNU-stack, "", %progbits
