/* cosim_run(before, after): loads all registers from `before`, executes the instruction in
 * cosim_slot, and stores all registers to `after` (struct state of machine.c). tpidr_el0
 * temporarily holds x30. */
#include <vectors.S> /* of the kind of vectors */
    .macro general instruction, base
    \instruction x2, x3, [\base, #16]
    \instruction x4, x5, [\base, #32]
    \instruction x6, x7, [\base, #48]
    \instruction x8, x9, [\base, #64]
    \instruction x10, x11, [\base, #80]
    \instruction x12, x13, [\base, #96]
    \instruction x14, x15, [\base, #112]
    \instruction x16, x17, [\base, #128]
    \instruction x18, x19, [\base, #144]
    \instruction x20, x21, [\base, #160]
    \instruction x22, x23, [\base, #176]
    \instruction x24, x25, [\base, #192]
    \instruction x26, x27, [\base, #208]
    \instruction x28, x29, [\base, #224]
    .endm
    .macro own instruction
    \instruction x19, x20, [sp, #16]
    \instruction x21, x22, [sp, #32]
    \instruction x23, x24, [sp, #48]
    \instruction x25, x26, [sp, #64]
    \instruction x27, x28, [sp, #80]
    \instruction d8, d9, [sp, #96]
    \instruction d10, d11, [sp, #112]
    \instruction d12, d13, [sp, #128]
    \instruction d14, d15, [sp, #144]
    .endm

    .text
    .balign 4096
    .globl cosim_run, cosim_slot
    .type cosim_run, %function
cosim_run:
    stp x29, x30, [sp, #-176]!
    own stp
    mrs x2, tpidr_el0
    str x2, [sp, #160]
    adrp x3, own_sp
    mov x4, sp
    str x4, [x3, :lo12:own_sp]
    adrp x3, target
    str x1, [x3, :lo12:target]
    mov x30, x0
    add x0, x30, #272
    load_vectors x0
    ldp x0, x1, [x30, #248]
    mov sp, x0
    msr nzcv, x1
    general ldp, x30
    ldp x0, x1, [x30]
    ldr x30, [x30, #240]
cosim_slot:
    nop
    msr tpidr_el0, x30
    adrp x30, target
    ldr x30, [x30, :lo12:target]
    stp x0, x1, [x30]
    general stp, x30
    mrs x0, tpidr_el0
    mov x1, sp
    stp x0, x1, [x30, #240]
    mrs x0, nzcv
    str x0, [x30, #256]
    add x0, x30, #272
    store_vectors x0
    adrp x0, own_sp
    ldr x0, [x0, :lo12:own_sp]
    mov sp, x0
    ldr x2, [sp, #160]
    msr tpidr_el0, x2
    own ldp
    ldp x29, x30, [sp], #176
    ret

    .bss
    .balign 8
own_sp: .skip 8
target: .skip 8
    .section .note.GNU-stack, "", %progbits
