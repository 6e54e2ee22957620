// What clang-19 -O2 makes of the C kernel gfs_dot_2x1__sve2_u2: dst[0] = c[0] src[0] + c[1] src[1].
    .text
    .globl kernel
    .p2align 2
    .type kernel,@function
kernel:
    cbz x0, .L10
    ldp q1, q2, [x2]
    ldp q3, q4, [x2, #32]
    rdvl x13, #2
    rdvl x10, #1
    ldp x11, x12, [x3]
    ldr x8, [x4]
    mov z0.b, #15
    cmp x13, x0
    b.ls .L3
    mov x9, xzr
    b .L5
.L3:
    ptrue p0.b
    mov x9, xzr
    mov x14, x0
.L4:
    ld1b { z5.b }, p0/z, [x11, x9]
    ld1b { z17.b }, p0/z, [x12, x9]
    add x15, x11, x9
    sub x14, x14, x13
    cmp x14, x13
    ld1b { z7.b }, p0/z, [x15, #1, mul vl]
    add x15, x12, x9
    lsr z6.b, z5.b, #4
    and z5.d, z5.d, z0.d
    lsr z18.b, z17.b, #4
    and z17.d, z17.d, z0.d
    lsr z16.b, z7.b, #4
    and z7.d, z7.d, z0.d
    tbl z5.b, { z1.b }, z5.b
    tbl z6.b, { z2.b }, z6.b
    tbl z17.b, { z3.b }, z17.b
    tbl z18.b, { z4.b }, z18.b
    tbl z7.b, { z1.b }, z7.b
    tbl z16.b, { z2.b }, z16.b
    eor3 z5.d, z5.d, z6.d, z17.d
    ld1b { z6.b }, p0/z, [x15, #1, mul vl]
    add x15, x8, x9
    eor z5.d, z5.d, z18.d
    st1b { z5.b }, p0, [x8, x9]
    addvl x9, x9, #2
    lsr z17.b, z6.b, #4
    and z6.d, z6.d, z0.d
    tbl z6.b, { z3.b }, z6.b
    tbl z17.b, { z4.b }, z17.b
    eor3 z7.d, z7.d, z16.d, z6.d
    eor z6.d, z7.d, z17.d
    st1b { z6.b }, p0, [x15, #1, mul vl]
    b.hs .L4
.L5:
    sub x13, x0, x9
    cmp x13, x10
    b.lo .L8
    ptrue p0.b
.L7:
    ld1b { z5.b }, p0/z, [x11, x9]
    ld1b { z7.b }, p0/z, [x12, x9]
    sub x13, x13, x10
    cmp x13, x10
    lsr z6.b, z5.b, #4
    and z5.d, z5.d, z0.d
    lsr z16.b, z7.b, #4
    and z7.d, z7.d, z0.d
    tbl z5.b, { z1.b }, z5.b
    tbl z6.b, { z2.b }, z6.b
    tbl z7.b, { z3.b }, z7.b
    tbl z16.b, { z4.b }, z16.b
    eor3 z5.d, z5.d, z6.d, z7.d
    eor z5.d, z5.d, z16.d
    st1b { z5.b }, p0, [x8, x9]
    addvl x9, x9, #1
    b.hs .L7
.L8:
    cmp x9, x0
    b.hs .L10
    ldp x10, x11, [x3]
    whilelo p0.b, xzr, x13
    ldp q3, q4, [x2]
    ld1b { z1.b }, p0/z, [x10, x9]
    and z2.d, z1.d, z0.d
    lsr z1.b, z1.b, #4
    tbl z2.b, { z3.b }, z2.b
    mov z3.b, #0
    tbl z1.b, { z4.b }, z1.b
    eor3 z3.d, z3.d, z2.d, z1.d
    ld1b { z1.b }, p0/z, [x11, x9]
    lsr z2.b, z1.b, #4
    and z0.d, z1.d, z0.d
    ldp q1, q4, [x2, #32]
    tbl z0.b, { z1.b }, z0.b
    tbl z1.b, { z4.b }, z2.b
    eor3 z3.d, z3.d, z0.d, z1.d
    st1b { z3.b }, p0, [x8, x9]
.L10:
    ret
    .size kernel, . - kernel
