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
        /* entered like a call through a pointer: the kernel computes r2 from r12 */
        lis     12, good_dot@ha
        addi    12, 12, good_dot@l
        mtctr   12
        bctr
        .endm

        .macro  clear register
        li      0, 0
        mtspr   \register, 0
        .endm

        before  bad_clobbers_r13, li 13, 0
        before  bad_clobbers_r14, li 14, 0
        before  bad_clobbers_r31, li 31, 0
        before  bad_clobbers_f14, xxlxor 14, 14, 14
        before  bad_clobbers_f31, xxlxor 31, 31, 31
        before  bad_clobbers_v20, vxor 20, 20, 20
        before  bad_clobbers_v31, vxor 31, 31, 31
        before  bad_clobbers_cr2, crnot 8, 8
        before  bad_clobbers_cr4, crnot 19, 19
        before  bad_vrsave, clear 256
        before  bad_rounding, mtfsb0 30
        before  bad_stack_pointer, addi 1, 1, -32
        before  bad_caller_frame, std 12, 32(1)
        before  bad_back_chain, std 12, 0(1)
        before  bad_illegal_instruction, .long 0
        before  good_save_words, std 12, 16(1)
        before  good_second_half, xxmrghd 31, 31, 0
        before  good_cr5, crnot 20, 20

        .section .note.GNU-stack, "", @progbits
