# clang-19 -O2 compiles the C kernel gfs_dot_nx1__rvv_u4 to this: dst[0] = sum over j < k of c[0][j] src[j].
    .text
    .attribute 4, 16
    .attribute 5, "rv64i2p1_m2p0_a2p1_f2p2_d2p2_c2p0_zicsr2p0_zmmul1p0"
    .option push
    .option arch, +v, +zve32f, +zve32x, +zve64d, +zve64f, +zve64x, +zvl128b, +zvl32b, +zvl64b
    .globl kernel
    .p2align 1
    .type kernel,@function
kernel:
    beqz a0, .LBB0_8
    ld a6, 0(a4)
    vsetvli t0, zero, e8, m1, ta, ma
    slli a7, t0, 2
    vmv.v.i v8, 15
    li t3, 0
    bgeu a0, a7, .LBB0_9
.LBB0_2:
    sub a4, a0, t3
    bgeu a4, t0, .LBB0_14
.LBB0_3:
    bgeu t3, a0, .LBB0_8
    vmv.v.i v9, 0
    beqz a1, .LBB0_7
    vid.v v10
    li a0, 16
    vmseq.vx v10, v10, a0
    vmsbf.m v0, v10
.LBB0_6:
    ld a0, 0(a3)
    add a0, a0, t3
    vsetvli zero, a4, e8, m1, ta, ma
    vle8.v v10, (a0)
    vsetvli a0, zero, e8, m1, ta, ma
    vle8.v v11, (a2), v0.t
    addi a0, a2, 16
    vle8.v v12, (a0), v0.t
    vand.vv v13, v10, v8
    vrgather.vv v14, v11, v13
    vsrl.vi v10, v10, 4
    vrgather.vv v11, v12, v10
    vxor.vv v9, v9, v14
    vxor.vv v9, v9, v11
    addi a1, a1, -1
    addi a3, a3, 8
    addi a2, a2, 32
    bnez a1, .LBB0_6
.LBB0_7:
    add a6, a6, t3
    vsetvli zero, a4, e8, m1, ta, ma
    vse8.v v9, (a6)
.LBB0_8:
    ret
.LBB0_9:
    vmv.v.i v9, 0
    slli t1, t0, 1
    add t2, t1, t0
    vid.v v10
    li a4, 16
    vmseq.vx v10, v10, a4
    vmsbf.m v0, v10
    j .LBB0_11
.LBB0_10:
    add a4, a6, t3
    vse8.v v13, (a4)
    add a5, a4, t0
    vse8.v v12, (a5)
    add a5, a4, t1
    vse8.v v11, (a5)
    add a4, a4, t2
    add t3, t3, a7
    sub a5, a0, t3
    vse8.v v10, (a4)
    bltu a5, a7, .LBB0_2
.LBB0_11:
    vmv1r.v v10, v9
    vmv1r.v v11, v9
    vmv1r.v v12, v9
    vmv1r.v v13, v9
    beqz a1, .LBB0_10
    mv t6, a2
    mv t4, a3
    mv t5, a1
    vmv1r.v v13, v9
    vmv1r.v v12, v9
    vmv1r.v v11, v9
    vmv1r.v v10, v9
.LBB0_13:
    ld a5, 0(t4)
    add a5, a5, t3
    vle8.v v14, (a5)
    vsrl.vi v15, v14, 4
    vand.vv v14, v14, v8
    vle8.v v16, (t6), v0.t
    addi a4, t6, 16
    vle8.v v17, (a4), v0.t
    add a4, a5, t0
    vle8.v v18, (a4)
    vrgather.vv v19, v16, v14
    vrgather.vv v14, v17, v15
    vxor.vv v13, v13, v19
    vsrl.vi v15, v18, 4
    vand.vv v18, v18, v8
    add a4, a5, t1
    vle8.v v19, (a4)
    vrgather.vv v20, v16, v18
    vrgather.vv v18, v17, v15
    vxor.vv v12, v12, v20
    vsrl.vi v15, v19, 4
    vand.vv v19, v19, v8
    add a5, a5, t2
    vle8.v v20, (a5)
    vrgather.vv v21, v16, v19
    vrgather.vv v19, v17, v15
    vxor.vv v11, v11, v21
    vsrl.vi v15, v20, 4
    vand.vv v20, v20, v8
    vrgather.vv v21, v16, v20
    vrgather.vv v16, v17, v15
    vxor.vv v10, v10, v21
    vxor.vv v13, v13, v14
    vxor.vv v12, v12, v18
    vxor.vv v11, v11, v19
    vxor.vv v10, v10, v16
    addi t5, t5, -1
    addi t4, t4, 8
    addi t6, t6, 32
    bnez t5, .LBB0_13
    j .LBB0_10
.LBB0_14:
    vmv.v.i v9, 0
    vid.v v10
    li a4, 16
    vmseq.vx v10, v10, a4
    vmsbf.m v0, v10
    j .LBB0_16
.LBB0_15:
    add a5, a6, t3
    add t3, t3, t0
    sub a4, a0, t3
    vse8.v v10, (a5)
    bltu a4, t0, .LBB0_3
.LBB0_16:
    vmv1r.v v10, v9
    beqz a1, .LBB0_15
    mv a4, a2
    mv a7, a3
    mv t1, a1
    vmv1r.v v10, v9
.LBB0_18:
    ld a5, 0(a7)
    add a5, a5, t3
    vle8.v v11, (a5)
    vle8.v v12, (a4), v0.t
    addi a5, a4, 16
    vle8.v v13, (a5), v0.t
    vand.vv v14, v11, v8
    vrgather.vv v15, v12, v14
    vsrl.vi v11, v11, 4
    vrgather.vv v12, v13, v11
    vxor.vv v10, v10, v15
    vxor.vv v10, v10, v12
    addi t1, t1, -1
    addi a7, a7, 8
    addi a4, a4, 32
    bnez t1, .LBB0_18
    j .LBB0_15
.Lfunc_end0:
    .size kernel, .Lfunc_end0-kernel
    .option pop
    .section ".note.GNU-stack","",@progbits
