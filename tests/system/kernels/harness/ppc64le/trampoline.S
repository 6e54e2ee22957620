/* trampoline.S: enters a kernel with every register of the machine set, and saves all registers
 * afterwards.
 *
 * void harness_trampoline(void) loads `harness_before`, calls `harness_code` and stores
 * `harness_after`. It assumes nothing about the ABI except that r12 and CTR hold the address of an
 * entered function, that r13 is the thread pointer, and that r0 and r12 are free at a return. All
 * its memory is at fixed addresses below 2 GiB (the program is static), because after the call no
 * register can be trusted. */
#include "state.h"

        .macro  address register, symbol
        lis     \register, \symbol@ha
        addi    \register, \register, \symbol@l
        .endm

        /* lxvd2x or stxvd2x for all vector registers; overwrites r0 and the base */
        .macro  vectors what, base
        li      0, 0
        .irp    n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        \what   \n, 0, \base
        addi    \base, \base, 16
        .endr
        .irp    n, 32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,62,63
        \what   \n, 0, \base
        addi    \base, \base, 16
        .endr
        .endm

        .text
        .globl  harness_trampoline
        .hidden harness_trampoline
        .type   harness_trampoline, @function
harness_trampoline:
        address 12, own_registers
        .irp    n, 1,2,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        std     \n, STATE_GPR(\n)(12)
        .endr
        mflr    0
        std     0, STATE_GPR(0)(12)
        mfcr    0
        std     0, STATE_CR(12)
        mfspr   0, 256
        std     0, STATE_VRSAVE(12)
        mffs    0
        stfd    0, STATE_FPSCR(12)
        addi    12, 12, STATE_VECTORS
        vectors stxvd2x, 12

        address 12, harness_before
        lfd     0, STATE_FPSCR(12)
        mtfsf   255, 0
        ld      0, STATE_VRSAVE(12)
        mtspr   256, 0
        ld      0, STATE_XER(12)
        mtxer   0
        ld      0, STATE_CR(12)
        mtcrf   255, 0
        addi    12, 12, STATE_VECTORS
        vectors lxvd2x, 12
        address 12, harness_before
        .irp    n, 0,1,2,3,4,5,6,7,8,9,10,11,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        ld      \n, STATE_GPR(\n)(12)
        .endr
        lis     12, harness_code@ha
        ld      12, harness_code@l(12)
        mtctr   12
        bctrl

        address 12, harness_after
        .irp    n, 1,2,3,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        std     \n, STATE_GPR(\n)(12)
        .endr
        mfcr    0
        std     0, STATE_CR(12)
        mfspr   0, 256
        std     0, STATE_VRSAVE(12)
        addi    12, 12, STATE_VECTORS
        vectors stxvd2x, 12
        address 12, harness_after
        mffs    0
        stfd    0, STATE_FPSCR(12)

        address 12, own_registers
        lfd     0, STATE_FPSCR(12)
        mtfsf   255, 0
        ld      0, STATE_VRSAVE(12)
        mtspr   256, 0
        ld      0, STATE_CR(12)
        mtcrf   255, 0
        addi    12, 12, STATE_VECTORS
        vectors lxvd2x, 12
        address 12, own_registers
        ld      0, STATE_GPR(0)(12)
        mtlr    0
        .irp    n, 1,2,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        ld      \n, STATE_GPR(\n)(12)
        .endr
        blr
        .size   harness_trampoline, .-harness_trampoline

#include "../data.S"

        .bss
        .balign 64
        data    harness_before, STATE_BYTES
        data    harness_after, STATE_BYTES
        data    harness_code, 8
        .balign 16
own_registers:
        .skip   STATE_BYTES

        .section .note.GNU-stack, "", @progbits
