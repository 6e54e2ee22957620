/* trampoline.S: enters a kernel with every register of the machine set, and saves all registers
 * afterwards.
 *
 * void harness_trampoline(void) loads `harness_before`, calls `harness_code` and stores
 * `harness_after`. It assumes no ABI: abi.c determines which register holds an argument and which
 * must survive. All its memory is at fixed addresses, because after the call no register, not even
 * the stack pointer, can be trusted. */
#include "state.h"


        .text
        .globl  harness_trampoline
        .hidden harness_trampoline
        .type   harness_trampoline, @function
harness_trampoline:
        pushq   %rbx
        pushq   %rbp
        pushq   %r12
        pushq   %r13
        pushq   %r14
        pushq   %r15
        movq    %rsp, own_rsp(%rip)
        stmxcsr own_mxcsr(%rip)

        /* x87: empty, with a control word that is not the default. */
        fninit
        fldcw   STATE_X87+harness_before(%rip)
        ldmxcsr STATE_MXCSR+harness_before(%rip)

        movl    harness_level(%rip), %eax
        cmpl    $LEVEL_AVX, %eax
        je      load_avx
        jg      load_avx512

        .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        movups  STATE_VECTOR(\n)+harness_before(%rip), %xmm\n
        .endr
        jmp     load_general
load_avx512:
        .irp n, 16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        vmovdqu64 STATE_VECTOR(\n)+harness_before(%rip), %zmm\n
        .endr
        .irp n, 0,1,2,3,4,5,6,7
        kmovq   STATE_MASKS+8*\n+harness_before(%rip), %k\n
        .endr
        .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        vmovdqu64 STATE_VECTOR(\n)+harness_before(%rip), %zmm\n
        .endr
        jmp     uppers
load_avx:
        .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        vmovdqu STATE_VECTOR(\n)+harness_before(%rip), %ymm\n
        .endr
uppers:
        cmpl    $0, harness_dirty_uppers(%rip)
        jne     load_general
        vzeroupper

load_general:
        pushq   STATE_RFLAGS+harness_before(%rip)
        popfq
        /* From here on there are only moves, because they do not change the flags. */
        .macro  load name, number
        movq    STATE_GPR(\number)+harness_before(%rip), %\name
        .endm
        load    rax, GPR_RAX
        load    rcx, GPR_RCX
        load    rdx, GPR_RDX
        load    rbx, GPR_RBX
        load    rbp, GPR_RBP
        load    rsi, GPR_RSI
        load    rdi, GPR_RDI
        load    r8, GPR_R8
        load    r9, GPR_R9
        load    r10, GPR_R10
        load    r11, GPR_R11
        load    r12, GPR_R12
        load    r13, GPR_R13
        load    r14, GPR_R14
        load    r15, GPR_R15
        load    rsp, GPR_RSP
        call    *harness_code(%rip)

        .globl  harness_returned
        .hidden harness_returned
harness_returned:
        .macro  save name, number
        movq    %\name, STATE_GPR(\number)+harness_after(%rip)
        .endm
        save    rax, GPR_RAX
        save    rcx, GPR_RCX
        save    rdx, GPR_RDX
        save    rbx, GPR_RBX
        save    rsp, GPR_RSP
        save    rbp, GPR_RBP
        save    rsi, GPR_RSI
        save    rdi, GPR_RDI
        save    r8, GPR_R8
        save    r9, GPR_R9
        save    r10, GPR_R10
        save    r11, GPR_R11
        save    r12, GPR_R12
        save    r13, GPR_R13
        save    r14, GPR_R14
        save    r15, GPR_R15
        movq    own_rsp(%rip), %rsp
        pushfq
        popq    STATE_RFLAGS+harness_after(%rip)
        cld
        stmxcsr STATE_MXCSR+harness_after(%rip)
        ldmxcsr own_mxcsr(%rip)
        fnstenv STATE_X87+harness_after(%rip)
        fninit

        movl    harness_xinuse(%rip), %ecx
        jrcxz   store_vectors           /* without XGETBV(1) */
        xgetbv
        movl    %eax, STATE_XINUSE+harness_after(%rip)

store_vectors:
        movl    harness_level(%rip), %eax
        cmpl    $LEVEL_AVX, %eax
        je      store_avx
        jg      store_avx512
        .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        movups  %xmm\n, STATE_VECTOR(\n)+harness_after(%rip)
        .endr
        jmp     leave
store_avx512:
        .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        vmovdqu64 %zmm\n, STATE_VECTOR(\n)+harness_after(%rip)
        .endr
        vzeroupper
        jmp     leave
store_avx:
        .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        vmovdqu %ymm\n, STATE_VECTOR(\n)+harness_after(%rip)
        .endr
        vzeroupper
leave:
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rbp
        popq    %rbx
        ret
        .size   harness_trampoline, .-harness_trampoline

#include "../data.S"

        .bss
        .balign 64
        data    harness_before, STATE_BYTES
        data    harness_after, STATE_BYTES
        data    harness_code, 8
own_rsp:
        .skip   8
own_mxcsr:
        .skip   4
        data    harness_level, 4
        data    harness_dirty_uppers, 4
        data    harness_xinuse, 4

        .section .note.GNU-stack, "", @progbits
