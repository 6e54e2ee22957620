/* cosim_run(before, after): loads all registers from `before`, executes the instruction in
 * cosim_slot, and stores all registers to `after` (struct state of state.h). f0 temporarily holds
 * x31. */
    .option norelax
    .option norvc
    .set VL, 256
    .set VTYPE, 264
    .set VECTORS, 272
    .set STRIDE, 128

    .macro vectors instruction, base, scratch
    addi \scratch, \base, VECTORS
    .irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    \instruction v\number, (\scratch)
    addi \scratch, \scratch, STRIDE
    .endr
    .endm
    .macro general instruction, base, numbers:vararg
    .irp number, \numbers
    \instruction x\number, 8 * \number(\base)
    .endr
    .endm

    .text
    .globl cosim_run
    .type cosim_run, @function
cosim_run:
    la x5, own
    general sd, x5, 1, 2, 3, 4, 8, 9, 11, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27
    vectors vl1re8.v, x10, x6
    ld x6, VL(x10)
    ld x7, VTYPE(x10)
    vsetvl x0, x6, x7
    general ld, x10, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 10
    .globl cosim_jump
cosim_jump:
    j cosim_slot
    .globl cosim_after
cosim_after:
    fmv.d.x f0, x31
    la x31, own
    ld x31, 88(x31)
    general sd, x31, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
    fmv.x.d x30, f0
    sd x30, 248(x31)
    csrr x5, vl
    sd x5, VL(x31)
    csrr x5, vtype
    sd x5, VTYPE(x31)
    vectors vs1r.v, x31, x6
    la x5, own
    general ld, x5, 1, 2, 3, 4, 8, 9, 11, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27
    ret
    .size cosim_run, . - cosim_run

    .section .slot, "ax", @progbits
    .p2align 12
    .globl cosim_slot
cosim_slot:
    nop
    j cosim_after
    xori x31, x31, 1 /* target of branches */
    j cosim_after
    .p2align 12

    .bss
    .p2align 4
own:
    .space 256
    .section .note.GNU-stack, "", @progbits
