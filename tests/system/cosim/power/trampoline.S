/* cosim_run(before, after): loads all registers from `before`, executes the instruction in
 * cosim_slot, and stores all registers to `after` (struct state of state.h). TAR temporarily holds
 * r31, and VRSAVE, which has 32 bits, `after`: the program is linked below 2^32. */
    .machine power8
    .abiversion 2
    .set VRSAVE, 256
    .set TAR, 815
    .set LR, 256
    .set CTR, 264
    .set CR, 272
    .set XER, 280
    .set VECTORS, 288
    .set OWN, 0

    .macro point register, what
    lis \register, \what@ha
    addi \register, \register, \what@l
    .endm
    .macro vectors instruction, base, scratch
    addi \scratch, \base, VECTORS
    .set number, 0
    .rept 64
    \instruction number, 0, \scratch
    addi \scratch, \scratch, 16
    .set number, number + 1
    .endr
    .endm
    .macro general instruction, first, last, base
    .set number, \first
    .rept \last - \first + 1
    \instruction number, 8 * number(\base)
    .set number, number + 1
    .endr
    .endm

    .text
    .globl cosim_run
    .type cosim_run, @function
cosim_run:
    point 5, own
    general std, 1, 2, 5
    general std, 13, 31, 5
    mflr 6
    std 6, LR(5)
    mfcr 6
    std 6, CR(5)
    vectors stxvd2x, 5, 6
    mtspr VRSAVE, 4
    vectors lxvd2x, 3, 6
    ld 6, LR(3)
    mtlr 6
    ld 6, CTR(3)
    mtctr 6
    ld 6, CR(3)
    mtcr 6
    ld 6, XER(3)
    mtxer 6
    general ld, 4, 31, 3
    general ld, 0, 2, 3
    ld 3, 24(3)
    b cosim_slot
    .globl cosim_after
cosim_after:
    mtspr TAR, 31
    mfspr 31, VRSAVE
    clrldi 31, 31, 32
    general std, 0, 30, 31
    mfspr 3, TAR
    std 3, 248(31)
    mflr 3
    std 3, LR(31)
    mfctr 3
    std 3, CTR(31)
    mfcr 3
    std 3, CR(31)
    mfxer 3
    std 3, XER(31)
    vectors stxvd2x, 31, 3
    point 5, own
    vectors lxvd2x, 5, 6
    ld 6, CR(5)
    mtcr 6
    ld 6, LR(5)
    mtlr 6
    general ld, 13, 31, 5
    general ld, 1, 2, 5
    blr
    .size cosim_run, . - cosim_run

    .section .slot, "ax", @progbits
    .p2align 12
    .globl cosim_slot
cosim_slot:
    nop
    nop
    b cosim_after
    xori 0, 0, 1 /* target of branches */
    b cosim_after
    .p2align 12

    .bss
    .p2align 4
own:
    .space 1312
    .section .note.GNU-stack, "", @progbits
