/* trampoline.S: enters a kernel with every register of the machine set, and saves all registers
 * afterwards.
 *
 * void harness_trampoline(void) loads `harness_before`, calls `harness_code` and stores
 * `harness_after`. It assumes nothing about the ABI except that no function may change gp and tp
 * and that t0 and t1 are free at a call and a return. All its memory is at fixed addresses, found
 * from the program counter, because after the call no register can be trusted. */
#include "state.h"

        .option norelax
        .attribute arch, "rv64gcv"

        /* sd fsd or ld fld: every register that our caller expects unchanged */
        .macro  own what, float
        .irp    n, 1,2,3,4,8,9,18,19,20,21,22,23,24,25,26,27
        \what   x\n, STATE_GPR(\n)(t0)
        .endr
        .irp    n, 8,9,18,19,20,21,22,23,24,25,26,27
        \float  f\n, STATE_FPR(\n)(t0)
        .endr
        .endm

        .text
        .globl  harness_trampoline
        .hidden harness_trampoline
        .type   harness_trampoline, @function
harness_trampoline:
        lla     t0, own_registers
        own     sd, fsd
        frcsr   t1
        sd      t1, STATE_FCSR(t0)

        lla     t0, harness_before
        lla     t1, harness_vlenb
        ld      t1, 0(t1)
        beqz    t1, load_floats
        slli    t1, t1, 3
        addi    t2, t0, STATE_VECTORS
        vl8re8.v v0, (t2)
        add     t2, t2, t1
        vl8re8.v v8, (t2)
        add     t2, t2, t1
        vl8re8.v v16, (t2)
        add     t2, t2, t1
        vl8re8.v v24, (t2)
        vsetivli zero, 3, e16, m2, ta, ma
        csrwi   vxrm, 2
        csrwi   vxsat, 1
load_floats:
        .irp    n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        fld     f\n, STATE_FPR(\n)(t0)
        .endr
        ld      t1, STATE_FCSR(t0)
        fscsr   t1
        .irp    n, 2,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        ld      x\n, STATE_GPR(\n)(t0)
        .endr
        ld      t1, STATE_GPR(6)(t0)
        lla     t0, harness_code
        ld      t0, 0(t0)
        jalr    ra, 0(t0)

        lla     t0, harness_after
        .irp    n, 1,2,3,4,8,9,10,18,19,20,21,22,23,24,25,26,27
        sd      x\n, STATE_GPR(\n)(t0)
        .endr
        .irp    n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        fsd     f\n, STATE_FPR(\n)(t0)
        .endr
        frcsr   t1
        sd      t1, STATE_FCSR(t0)
        lla     t1, harness_vlenb
        ld      t1, 0(t1)
        beqz    t1, leave
        csrr    t1, vstart
        sd      t1, STATE_VSTART(t0)
        csrwi   vstart, 0
leave:
        lla     t0, own_registers
        ld      t1, STATE_FCSR(t0)
        fscsr   t1
        own     ld, fld
        ret
        .size   harness_trampoline, .-harness_trampoline

#include "../data.S"

        .bss
        .balign 64
        data    harness_before, STATE_BYTES
        data    harness_after, STATE_BYTES
        data    harness_code, 8
        data    harness_vlenb, 8
own_registers:
        .skip   STATE_VECTORS

        .section .note.GNU-stack, "", @progbits
