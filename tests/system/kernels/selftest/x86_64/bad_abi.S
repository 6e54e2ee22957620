/* bad_abi.S: a right kernel with entry or exit code that violates its ABI. */

        .macro  begin name
        .text
        .globl  \name
        .type   \name, @function
\name:
        .endm

/* Both ABIs: do `what`, then continue with the right kernel. */
        .macro  before name, what:vararg
        begin   \name
        \what
        jmp     good_dot@PLT
        begin   \name\()_ms
        \what
        jmp     good_dot_ms@PLT
        .endm

/* Both ABIs: call the right kernel, then do `what`. */
        .macro  after name, what:vararg
        begin   \name
        subq    $8, %rsp
        call    good_dot@PLT
        addq    $8, %rsp
        \what
        ret
        begin   \name\()_ms
        pushq   40(%rsp)                /* the fifth argument */
        subq    $32, %rsp
        call    good_dot_ms@PLT
        addq    $40, %rsp
        \what
        ret
        .endm

        .macro  set_mxcsr
        pushq   $0x1f80
        ldmxcsr (%rsp)
        popq    %rax
        .endm

        .macro  set_x87_control
        pushq   $0x037f
        fldcw   (%rsp)
        popq    %rax
        .endm

        before  bad_clobbers_rbx, xorl %ebx, %ebx
        before  bad_clobbers_r15, xorl %r15d, %r15d
        after   bad_clobbers_rsi, movl $1, %esi
        before  bad_clobbers_xmm6, pcmpeqb %xmm6, %xmm6
        after   bad_direction_flag, std
        after   bad_leaks_push, pushq $0
        after   bad_pops_too_much, ret $8
        before  bad_illegal_instruction, ud2
        before  bad_mxcsr, set_mxcsr
        before  bad_x87_control, set_x87_control
        before  bad_mmx, pxor %mm0, %mm0
        after   bad_no_vzeroupper, vpcmpeqb %ymm3, %ymm3, %ymm3
        after   bad_no_vzeroupper_zeros, vpxor %ymm3, %ymm3, %ymm3

/* The caller's frame; under the Microsoft ABI after the shadow space and the fifth argument. */
        begin   bad_caller_frame
        movb    $0, 16(%rsp)
        jmp     good_dot@PLT
        begin   bad_caller_frame_ms
        movb    $0, 50(%rsp)
        jmp     good_dot_ms@PLT

/* Bytes below the stack pointer and the red zone do not survive a signal. */
        begin   bad_below_stack
        movq    %rdi, -144(%rsp)
        movq    -144(%rsp), %rdi
        jmp     good_dot@PLT
        begin   bad_below_stack_ms
        movq    %rcx, -8(%rsp)
        movq    -8(%rsp), %rcx
        jmp     good_dot_ms@PLT

/* Allowed: the red zone of System V, the shadow space of Microsoft. */
        begin   good_shadow_or_red_zone
        movq    %rdi, -128(%rsp)
        movq    -128(%rsp), %rdi
        jmp     good_dot@PLT
        begin   good_shadow_or_red_zone_ms
        movq    %rcx, 32(%rsp)
        movq    %rcx, 8(%rsp)
        movq    8(%rsp), %rcx
        jmp     good_dot_ms@PLT

        .section .note.GNU-stack, "", @progbits
