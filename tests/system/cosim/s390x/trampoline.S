/* cosim_run(before, after): loads all registers from `before`, executes the instruction in
 * cosim_slot, and stores all registers to `after` (struct state of state.h). */
    .set CODE, 128
    .set VECTORS, 144
    .set OWN_FLOATS, 128

    .macro floats instruction, base
    .set number, 8
    .rept 8
    \instruction number, OWN_FLOATS + 8 * number(\base)
    .set number, number + 1
    .endr
    .endm

    .text
    .globl cosim_run
    .type cosim_run, @function
cosim_run:
    larl %r1, own
    stmg %r0, %r15, 0(%r1)
    floats std, %r1
    stgrl %r3, target
    lgr %r1, %r2
    vlm %v0, %v15, VECTORS(%r1)
    vlm %v16, %v31, VECTORS + 256(%r1)
    lg %r0, CODE(%r1)
    spm %r0
    lmg %r0, %r15, 0(%r1)
    jg cosim_slot
    .globl cosim_after
cosim_after:
    stgrl %r1, first
    lgrl %r1, target
    stmg %r0, %r15, 0(%r1)
    lgrl %r2, first
    stg %r2, 8(%r1)
    lghi %r0, 0
    ipm %r0
    stg %r0, CODE(%r1)
    vstm %v0, %v15, VECTORS(%r1)
    vstm %v16, %v31, VECTORS + 256(%r1)
    larl %r1, own
    floats ld, %r1
    lmg %r0, %r15, 0(%r1)
    br %r14
    .size cosim_run, . - cosim_run

    .section .slot, "ax", @progbits
    .balign 4096
    .globl cosim_slot
cosim_slot:
    .fill 4, 2, 0x0707
    jg cosim_after
    xilf %r0, 1 /* target of branches */
    jg cosim_after
    .balign 4096

    .bss
    .balign 8
own: .skip 256
target: .skip 8
first: .skip 8
    .section .note.GNU-stack, "", @progbits
