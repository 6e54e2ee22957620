/* trampoline.S: enters a kernel with every register of the machine set, and saves all registers
 * afterwards.
 *
 * void harness_trampoline(void) loads `harness_before`, calls `harness_code` and stores
 * `harness_after`. It assumes nothing about the ABI except that no function may change tp and r21
 * and that t0 and t1 are free at a call and a return. All its memory is at fixed addresses, found
 * from the program counter, because after the call no register can be trusted. */
#include "state.h"

        /* st.d fst.d or ld.d fld.d: every register that our caller expects unchanged */
        .macro  own what, float
        .irp    n, 1,2,3,21,22,23,24,25,26,27,28,29,30,31
        \what   $r\n, $t0, STATE_GPR(\n)
        .endr
        .irp    n, 24,25,26,27,28,29,30,31
        \float  $f\n, $t0, STATE_VECTOR(\n)
        .endr
        .endm

        .macro  all what, letters
        .irp    n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        \what   $\letters\n, $t0, STATE_VECTOR(\n)
        .endr
        .endm

        .text
        .globl  harness_trampoline
        .hidden harness_trampoline
        .type   harness_trampoline, @function
harness_trampoline:
        la.local $t0, own_registers
        own     st.d, fst.d
        movfcsr2gr $t1, $fcsr0
        st.d    $t1, $t0, STATE_FCSR

        la.local $t0, harness_before
        la.local $t1, harness_vectors
        ld.d    $t1, $t1, 0
        beqz    $t1, load_floats
        addi.d  $t1, $t1, -32
        beqz    $t1, load_wide
        all     vld, vr
        b       loaded
load_wide:
        all     xvld, xr
        b       loaded
load_floats:
        all     fld.d, f
loaded:
        ld.d    $t1, $t0, STATE_FCSR
        movgr2fcsr $fcsr0, $t1
        .irp    n, 3,4,5,6,7,8,9,10,11,13,14,15,16,17,18,19,20,22,23,24,25,26,27,28,29,30,31
        ld.d    $r\n, $t0, STATE_GPR(\n)
        .endr
        la.local $t0, harness_code
        ld.d    $t0, $t0, 0
        jirl    $ra, $t0, 0

        la.local $t0, harness_after
        .irp    n, 1,2,3,4,21,22,23,24,25,26,27,28,29,30,31
        st.d    $r\n, $t0, STATE_GPR(\n)
        .endr
        all     fst.d, f
        movfcsr2gr $t1, $fcsr0
        st.d    $t1, $t0, STATE_FCSR
        la.local $t0, own_registers
        ld.d    $t1, $t0, STATE_FCSR
        movgr2fcsr $fcsr0, $t1
        own     ld.d, fld.d
        jirl    $zero, $ra, 0
        .size   harness_trampoline, .-harness_trampoline

#include "../data.S"

        .bss
        .balign 64
        data    harness_before, STATE_BYTES
        data    harness_after, STATE_BYTES
        data    harness_code, 8
        data    harness_vectors, 8
own_registers:
        .skip   STATE_BYTES

        .section .note.GNU-stack, "", @progbits
