/* trampoline.S: sets every register, jumps to the code under test, and stores every register.
 *
 * void cosim_trampoline(void) loads `cosim_before`, jumps to `cosim_code` and expects the code to
 * jump back to `cosim_returned`, where it fills `cosim_after`. All its memory is at fixed
 * addresses: while the code under test runs, no register belongs to the trampoline, not even the
 * stack pointer. */
#include "machine.h"

        .macro  general action
        .irp    pair, "rax,0","rcx,1","rdx,2","rbx,3","rbp,5","rsi,6","rdi,7","r8,8","r9,9","r10,10","r11,11"
        \action \pair
        .endr
        .irp    pair, "r12,12","r13,13","r14,14","r15,15","rsp,4"
        \action \pair
        .endr
        .endm
        .macro  load name, number
        movq    REGISTERS_GPR(\number)+cosim_before(%rip), %\name
        .endm
        .macro  save name, number
        movq    %\name, REGISTERS_GPR(\number)+cosim_after(%rip)
        .endm

        .text
        .globl  cosim_trampoline
        .hidden cosim_trampoline
        .type   cosim_trampoline, @function
cosim_trampoline:
        pushq   %rbx
        pushq   %rbp
        pushq   %r12
        pushq   %r13
        pushq   %r14
        pushq   %r15
        movq    %rsp, cosim_own_rsp(%rip)

        movl    cosim_level(%rip), %eax
        cmpl    $LEVEL_AVX, %eax
        je      load_avx
        jg      load_avx512
        .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        movups  REGISTERS_VECTOR(\n)+cosim_before(%rip), %xmm\n
        .endr
        jmp     load_general
load_avx:
        .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        vmovdqu REGISTERS_VECTOR(\n)+cosim_before(%rip), %ymm\n
        .endr
        jmp     load_general
load_avx512:
        .irp n, 0,1,2,3,4,5,6,7
        kmovq   REGISTERS_MASKS+8*\n+cosim_before(%rip), %k\n
        .endr
        .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        vmovdqu64 REGISTERS_VECTOR(\n)+cosim_before(%rip), %zmm\n
        .endr
        .irp n, 16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        vmovdqu64 REGISTERS_VECTOR(\n)+cosim_before(%rip), %zmm\n
        .endr

load_general:
        pushq   REGISTERS_RFLAGS+cosim_before(%rip)
        popfq
        /* From here on there are only moves, because they do not change the flags. */
        general load
        jmpq    *cosim_code(%rip)

        .globl  cosim_returned
        .hidden cosim_returned
cosim_returned:
        general save
        movq    cosim_own_rsp(%rip), %rsp
        pushfq
        popq    REGISTERS_RFLAGS+cosim_after(%rip)

        movl    cosim_level(%rip), %eax
        cmpl    $LEVEL_AVX, %eax
        je      store_avx
        jg      store_avx512
        .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        movups  %xmm\n, REGISTERS_VECTOR(\n)+cosim_after(%rip)
        .endr
        jmp     cosim_leave
store_avx:
        .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        vmovdqu %ymm\n, REGISTERS_VECTOR(\n)+cosim_after(%rip)
        .endr
        vzeroupper
        jmp     cosim_leave
store_avx512:
        .irp n, 0,1,2,3,4,5,6,7
        kmovq   %k\n, REGISTERS_MASKS+8*\n+cosim_after(%rip)
        .endr
        .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        vmovdqu64 %zmm\n, REGISTERS_VECTOR(\n)+cosim_after(%rip)
        .endr
        .irp n, 16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        vmovdqu64 %zmm\n, REGISTERS_VECTOR(\n)+cosim_after(%rip)
        .endr
        vzeroupper

        /* A signal handler also continues here after a fault, with rsp = cosim_own_rsp. */
        .globl  cosim_leave
        .hidden cosim_leave
cosim_leave:
        cld
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rbp
        popq    %rbx
        ret
        .size   cosim_trampoline, .-cosim_trampoline

#include "../../kernels/harness/data.S"

        .bss
        .balign 64
        data    cosim_before, REGISTERS_BYTES
        data    cosim_after, REGISTERS_BYTES
        data    cosim_code, 8
        data    cosim_own_rsp, 8
        data    cosim_level, 4

        .section .note.GNU-stack, "", @progbits
