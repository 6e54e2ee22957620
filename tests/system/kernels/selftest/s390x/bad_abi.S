/* bad_abi.S: a right kernel with entry or exit code that violates its ABI. */

        .machine z13

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
        jg      good_dot
        .endm

/* Call the right kernel, then do `what`. */
        .macro  after name, what:vararg
        begin   \name
        stmg    %r14, %r15, 112(%r15)
        aghi    %r15, -160
        brasl   %r14, good_dot
        lmg     %r14, %r15, 272(%r15)
        \what
        br      %r14
        .endm

        .macro  clear_rounding
        lghi    %r1, 0
        sfpc    %r1
        .endm

        after   bad_clobbers_r6, lghi %r6, 0
        before  bad_clobbers_r7, lghi %r7, 0
        before  bad_clobbers_r13, lghi %r13, 0
        before  bad_clobbers_f8, lzdr %f8
        before  bad_clobbers_f15, lzdr %f15
        before  bad_rounding, clear_rounding
        before  bad_stack_pointer, aghi %r15, -32
        before  bad_caller_frame, mvi 160(%r15), 0
        before  bad_back_chain, mvi 0(%r15), 0
        before  bad_illegal_instruction, .short 0
        before  bad_return_address, lghi %r14, 0
        before  good_save_area, mvi 159(%r15), 0
        before  good_second_half, vlvgg %v8, %r0, 1

        .section .note.GNU-stack, "", @progbits
