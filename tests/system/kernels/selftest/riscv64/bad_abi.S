/* bad_abi.S: a right kernel with entry or exit code that violates its ABI. */

        .macro  begin name
        .text
        .globl  \name
        .type   \name, @function
\name:
        .endm

/* Do `what`, then continue with the right kernel. */
        .macro  before name, what:vararg
        begin   \name
        \what
        tail    good_dot
        .endm

        before  bad_clobbers_s0, li s0, 0
        before  bad_clobbers_s11, li s11, 0
        before  bad_clobbers_gp, li gp, 0
        before  bad_clobbers_fs0, fmv.d.x fs0, zero
        before  bad_clobbers_fs11, fmv.d.x fs11, zero
        before  bad_rounding, fsrmi 1
        before  bad_vstart, csrwi 0x008, 1
        before  bad_stack_pointer, addi sp, sp, -32
        before  bad_caller_frame, sd zero, 16(sp)
        before  bad_illegal_instruction, unimp
        before  bad_return_address, li ra, 0
        before  good_flags, fsflags zero

        .section .note.GNU-stack, "", @progbits
