/* bad_abi.S: a right kernel with entry or exit code that violates its ABI. */

        .macro  begin name
        .text
        .globl  \name
        .type   \name, %function
\name:
        .endm

/* Do `what`, then continue with the right kernel. */
        .macro  before name, what:vararg
        begin   \name
        \what
        b       good_dot
        .endm

        before  bad_clobbers_x19, mov x19, #0
        before  bad_clobbers_x29, mov x29, #0
        before  bad_clobbers_d8, fmov d8, xzr
        before  bad_clobbers_d15, fmov d15, xzr
        before  bad_fpcr, msr fpcr, xzr
        before  bad_stack_pointer, sub sp, sp, #32
        before  bad_caller_frame, str xzr, [sp, #16]
        before  bad_illegal_instruction, udf #0
        before  bad_return_address, mov x30, #0
        before  good_upper_half, mov v8.d[1], xzr

        .section .note.GNU-stack, "", %progbits
