// What clang-19 -O2 makes of the C kernel gfs_dot_2x1__neon_u1: dst[0] = c[0] src[0] + c[1] src[1].
    .text
    .globl kernel
    .p2align 2
    .type kernel,@function
kernel:
    cbz x0, .L5
    ldr x8, [x4]
    cmp x0, #16
    b.lo .L6
    movi v0.16b, #15
    ldp x11, x12, [x3]
    ldp q1, q2, [x2]
    mov x9, xzr
    ldp q3, q4, [x2, #32]
    mov x10, x0
.L3:
    ldr q5, [x11, x9]
    ldr q6, [x12, x9]
    sub x10, x10, #16
    cmp x10, #15
    and v7.16b, v5.16b, v0.16b
    ushr v5.16b, v5.16b, #4
    ushr v16.16b, v6.16b, #4
    and v6.16b, v6.16b, v0.16b
    tbl v7.16b, { v1.16b }, v7.16b
    tbl v5.16b, { v2.16b }, v5.16b
    tbl v16.16b, { v4.16b }, v16.16b
    tbl v6.16b, { v3.16b }, v6.16b
    eor v5.16b, v5.16b, v7.16b
    eor v6.16b, v6.16b, v16.16b
    eor v5.16b, v5.16b, v6.16b
    str q5, [x8, x9]
    add x9, x9, #16
    b.hi .L3
    cmp x9, x0
    b.lo .L7
.L5:
    ret
.L6:
    mov x9, xzr
    mov x10, x0
    cmp x9, x0
    b.hs .L5
.L7:
    ldr x11, [x3]
    cmp x10, #7
    b.ls .L9
    add x12, x11, x0
    ldr x11, [x11, x9]
    ldur x12, [x12, #-8]
    b .L14
.L9:
    cmp x10, #4
    b.lo .L11
    add x12, x11, x0
    ldr w11, [x11, x9]
    ldur w12, [x12, #-4]
    b .L14
.L11:
    cmp x10, #2
    b.lo .L13
    add x12, x11, x0
    ldrh w11, [x11, x9]
    ldurh w12, [x12, #-2]
    b .L14
.L13:
    ldrb w11, [x11, x9]
    mov x12, xzr
.L14:
    fmov d0, x11
    movi v1.16b, #15
    ldr x11, [x3, #8]
    cmp x10, #7
    mov v0.d[1], x12
    ushr v2.16b, v0.16b, #4
    and v0.16b, v0.16b, v1.16b
    ldp q1, q3, [x2]
    tbl v0.16b, { v1.16b }, v0.16b
    tbl v1.16b, { v3.16b }, v2.16b
    eor v0.16b, v0.16b, v1.16b
    b.ls .L16
    add x12, x11, x0
    ldr x11, [x11, x9]
    ldur x12, [x12, #-8]
    b .L21
.L16:
    cmp x10, #3
    b.ls .L18
    add x12, x11, x0
    ldr w11, [x11, x9]
    ldur w12, [x12, #-4]
    b .L21
.L18:
    cmp x10, #1
    b.ls .L20
    add x12, x11, x0
    ldrh w11, [x11, x9]
    ldurh w12, [x12, #-2]
    b .L21
.L20:
    ldrb w11, [x11, x9]
    mov x12, xzr
.L21:
    fmov d1, x11
    movi v2.16b, #15
    cmp x10, #7
    mov v1.d[1], x12
    ushr v3.16b, v1.16b, #4
    and v1.16b, v1.16b, v2.16b
    ldp q2, q4, [x2, #32]
    tbl v1.16b, { v2.16b }, v1.16b
    tbl v2.16b, { v4.16b }, v3.16b
    eor v1.16b, v1.16b, v2.16b
    eor v0.16b, v1.16b, v0.16b
    mov x11, v0.d[1]
    fmov x12, d0
    b.ls .L23
    str x12, [x8, x9]
    add x8, x8, x0
    stur x11, [x8, #-8]
    ret
.L23:
    cmp x10, #4
    b.lo .L25
    str w12, [x8, x9]
    add x8, x8, x0
    stur w11, [x8, #-4]
    ret
.L25:
    cmp x10, #2
    b.lo .L27
    strh w12, [x8, x9]
    add x8, x8, x0
    sturh w11, [x8, #-2]
    ret
.L27:
    strb w12, [x8, x9]
    ret
.Lend:
    .size kernel, .Lend-kernel
