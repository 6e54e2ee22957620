# clang-19 -O2 compiles the C kernel gfs_dot_2x1__vsx_u1 to this: dst[0] = c[0] src[0] + c[1] src[1].
    .text
    .abiversion 2
    .globl kernel
    .p2align 4
    .type kernel,@function
kernel:
.Lfunc_begin0:
    cmpldi 3, 0
    beqlr 0
    ld 4, 0(7)
    li 7, 16
    std 28, -32(1)
    std 29, -24(1)
    std 30, -16(1)
    ld 8, 0(6)
    cmpldi 3, 16
    mr 11, 3
    ld 9, 8(6)
    lxvd2x 34, 0, 5
    lxvd2x 35, 5, 7
    li 7, 32
    lxvd2x 36, 5, 7
    li 7, 48
    lxvd2x 37, 5, 7
    li 7, 0
    blt 0, .L10
    addi 11, 3, -16
    rldicl 7, 11, 60, 4
    cmpldi 11, 48
    addi 7, 7, 1
    clrldi 10, 7, 62
    bge 0, .L4
    li 7, 0
    cmpldi 10, 0
    bne 0, .L7
    b .L10
.L4:
    rldicl 7, 7, 62, 2
    li 11, 16
    li 12, 32
    li 0, 48
    rldicl 7, 7, 2, 3
    addi 7, 7, -4
    rldicl 7, 7, 62, 2
    addi 7, 7, 1
    mtctr 7
    li 7, 0
    .p2align 4
.L5:
    lxvd2x 32, 8, 7
    lxvd2x 33, 9, 7
    add 30, 8, 7
    add 29, 9, 7
    add 28, 4, 7
    vpermxor 0, 3, 2, 0
    vpermxor 1, 5, 4, 1
    xxlxor 0, 33, 32
    stxvd2x 0, 4, 7
    addi 7, 7, 64
    lxvd2x 32, 30, 11
    lxvd2x 33, 29, 11
    vpermxor 0, 3, 2, 0
    vpermxor 1, 5, 4, 1
    xxlxor 0, 33, 32
    stxvd2x 0, 28, 11
    lxvd2x 32, 30, 12
    lxvd2x 33, 29, 12
    vpermxor 0, 3, 2, 0
    vpermxor 1, 5, 4, 1
    xxlxor 0, 33, 32
    stxvd2x 0, 28, 12
    lxvd2x 32, 30, 0
    lxvd2x 33, 29, 0
    vpermxor 0, 3, 2, 0
    vpermxor 1, 5, 4, 1
    xxlxor 0, 33, 32
    stxvd2x 0, 28, 0
    bdnz .L5
    sub 11, 3, 7
    cmpldi 10, 0
    beq 0, .L10
.L7:
    mtctr 10
    .p2align 5
.L8:
    lxvd2x 32, 8, 7
    lxvd2x 33, 9, 7
    vpermxor 0, 3, 2, 0
    vpermxor 1, 5, 4, 1
    xxlxor 0, 33, 32
    stxvd2x 0, 4, 7
    addi 7, 7, 16
    bdnz .L8
    sub 11, 3, 7
.L10:
    cmpld 7, 3
    bge 0, .L27
    cmpldi 1, 11, 7
    cmpldi 11, 3
    li 9, 0
    xxlxor 0, 0, 0
    cmpldi 5, 11, 1
    li 8, 16
    creqv 24, 24, 24
    b .L14
    .p2align 4
.L12:
    ldx 10, 11, 7
    add 11, 11, 3
    ld 11, -8(11)
.L13:
    sldi 9, 9, 5
    mtfprd 1, 10
    mtfprd 2, 11
    crxor 24, 24, 24
    add 9, 5, 9
    lxvd2x 35, 0, 9
    lxvd2x 36, 9, 8
    li 9, 1
    xxmrghd 34, 2, 1
    vpermxor 2, 4, 3, 2
    xxlxor 0, 34, 0
    bc 4, 20, .L20
.L14:
    sldi 10, 9, 3
    crmove 20, 24
    ldx 11, 6, 10
    bc 12, 5, .L12
    bc 4, 1, .L17
    lwzx 10, 11, 7
    add 11, 11, 3
    lwz 11, -4(11)
    b .L13
    .p2align 4
.L17:
    bc 4, 21, .L19
    lhzx 10, 11, 7
    add 11, 11, 3
    lhz 11, -2(11)
    b .L13
.L19:
    lbzx 10, 11, 7
    li 11, 0
    b .L13
.L20:
    xxswapd 1, 0
    mffprd 5, 0
    mffprd 6, 1
    bc 4, 5, .L22
    add 3, 4, 3
    stdx 6, 4, 7
    std 5, -8(3)
    b .L27
.L22:
    bc 4, 1, .L24
    add 3, 4, 3
    stwx 6, 4, 7
    stw 5, -4(3)
    b .L27
.L24:
    bc 4, 21, .L26
    add 3, 4, 3
    sthx 6, 4, 7
    sth 5, -2(3)
    b .L27
.L26:
    stbx 6, 4, 7
.L27:
    ld 30, -16(1)
    ld 29, -24(1)
    ld 28, -32(1)
    blr
    .long 0
    .quad 0
.Lfunc_end0:
    .size kernel, .Lfunc_end0-.Lfunc_begin0
