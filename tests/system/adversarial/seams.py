"""Further kernels with one flaw each, along the seams of the prover: loops, widths, relocations, sections,
unwind tables and calling conventions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.system.adversarial.attacks import A64, COFF, POWER, Attack, a64, coff, power, x86

_ZERO = '.section .rodata.z, "a"\n.p2align 4\nz: .quad 0, 0\ny: .quad -1, -1'


def _constant(section: str, content: str = ".quad 0, 0") -> str:
    return f".section {section}\n.p2align 4\nz: {content}"


_THROUGH = "movq p(%rip), %rdx; movdqu (%rdx), %xmm2; pxor %xmm2, %xmm0"
_PXOR_Z = "movdqu z(%rip), %xmm2; pxor %xmm2, %xmm0"


def copies(change: str, first: str, second: str, before: str) -> str:
    """A kernel that adds two copies of an unknown, of which one changes in a late iteration."""
    return f"""
    .globl f
    .type f, @function
f:  test %rdi, %rdi
    jz 9f
    {before}
    movq (%rcx), %r10
    movq 8(%rcx), %r11
    movq (%r8), %r9
    xorl %eax, %eax
8:  movdqu (%r10,%rax), %xmm0
    movdqu (%r11,%rax), %xmm1
    pxor %xmm1, %xmm0
    movq {first}, %xmm2
    movq {second}, %xmm3
    pxor %xmm2, %xmm0
    pxor %xmm3, %xmm0
    movdqu %xmm0, (%r9,%rax)
    addq $16, %rax
    subq $16, %rdi
    movq %rdi, %rcx
    shrq $1, %rcx
    cmpq $0x4000, %rax
    jb 7f
    {change}
7:  testq %rdi, %rdi
    jnz 8b
9:  ret
    .size f, . - f
    """


def loops() -> Iterator[Attack]:
    """Equal unknowns of which one changes in a late iteration, and loops that do not end."""
    for change in ("movl $5, %edx", "movq %rax, %rdx", "xorl %edx, %edx"):
        yield Attack(f"copy {change}", copies(change, "%rsi", "%rdx", "movq %rsi, %rdx"))
        yield Attack(f"other-copy {change}", copies(change, "%rdx", "%rsi", "movq %rsi, %rdx"))
    slot = "movq %rsi, -8(%rsp)"
    yield Attack("slot", copies("movq %rdi, -8(%rsp)", "%rsi", "-8(%rsp)", slot))
    yield Attack("copied-slot", copies("movl $5, %esi", "%rsi", "-8(%rsp)", slot))
    two = "movq %rsi, -8(%rsp); movq %rsi, -16(%rsp)"
    yield Attack("two-slots", copies("movq %rdi, -16(%rsp)", "-16(%rsp)", "-8(%rsp)", two))
    late = "sub x11, x0, x8; lsr x12, x11, #1; cmp x8, #4, lsl #12; b.lo 7f; mov x10, #5; 7: cmp x8, x0"
    text = a64(before="mov x10, x9").replace("cmp x8, x0", late)
    adds = "fmov d2, x9; fmov d3, x10; eor v0.16b, v0.16b, v2.16b; eor v0.16b, v0.16b, v3.16b; str q0"
    yield Attack("a64-copy", text.replace("str q0", adds), A64)
    for check in ("cmpq $64, %rdi; jae 7b", "movq %rdi, %rdx; addq $16, %rdx; subq $16, %rdx; jnz 7b"):
        yield Attack(f"endless {check}", x86(after=f"7: {check}"))


def narrow() -> Iterator[Attack]:
    """The low bytes of the length, instead of the length."""
    for text in (
        "movl %edi, %edi",
        "leal (%rdi), %edi",
        "xorl $0, %edi",
        "addl $0, %edi",
        "subl $0, %edi",
        "andl $-16, %edi",
        "movslq %edi, %rdi",
        "movzwl %di, %edi",
        "movq %rdi, %rax; cltq; movq %rax, %rdi",
        "shlq $32, %rdi; shrq $32, %rdi",
        "movb $0, %dil",
        "shlq $60, %rdi; test %rdi, %rdi; jz 9f",
        "cmpl $0, %edi; je 9f",
        "testl %edi, %edi; je 9f",
        "cmpw $0, %di; je 9f",
        "cmpb $0, %dil; je 9f",
        "testb $0x10, %dil; jz 9f",
        "imulq $0x10000000, %rdi, %rdx; imulq $0x10000000, %rdx, %rdx; testq %rdx, %rdx; jz 9f",
    ):
        yield Attack(text, x86(before=text))
    for text in (
        "cbz w0, 9f",
        "cmp w0, #0; b.eq 9f",
        "mov w0, w0",
        "and w0, w0, #-16",
        "ubfx x9, x0, #0, #32; cbz x9, 9f",
        "cmp x0, w0, uxtw; b.ne 9f",
        "lsl w9, w0, #1; cbz w9, 9f",
        "mov w10, #65536; mul w9, w0, w10; cbz w9, 9f",
        "lsl x9, x0, #60; cbz x9, 9f",
        "tbz x0, #4, 9f",
    ):
        yield Attack(f"a64 {text}", a64(before=text), A64)
    for text in (
        "cmplwi 3, 0; beqlr",
        "cmpwi 3, 0; beqlr",
        "clrldi 3, 3, 32",
        "sldi 12, 3, 60; cmpldi 12, 0; beqlr",
    ):
        yield Attack(f"power {text}", power(before=text), POWER)


def control() -> Iterator[Attack]:
    """Control that leaves the function in another way than by its return."""
    for text in (
        "call 7f; 7:",
        "call 7f; jmp 8f; 7: ret; 8:",
        "syscall",
        "int3",
        "hlt",
        "ud2",
        "cpuid",
        "std",
        "fldz",
        "movq %rsp, %rdx; movq %r11, %rsp",
        "xchgq %rsp, %r11",
    ):
        yield Attack(text, x86(before=text))
    for text in ("ret $8", "lret", "iretq", "jmp *(%rsp)", "popq %rdx; jmp *%rdx", "pushq (%rsp)"):
        yield Attack(f"after {text}", x86(after=text))
    for text in ("svc #0", "brk #0", ".inst 0", "msr fpcr, xzr", "wfi", "mov x30, #0", "mov x29, #0"):
        yield Attack(f"a64 {text}", a64(before=text), A64)
    for text in (
        "trap",
        "sc",
        ".long (16 << 26) | (4 << 21) | (2 << 16) | 10",
        "li 12, 0; mtlr 12",
        "crset 8",
    ):
        yield Attack(f"power {text}", power(before=text), POWER)


def places() -> Iterator[Attack]:
    """Accesses beyond the function's memory."""
    for text in (
        "movq %rdi, -136(%rsp)",
        "movdqu %xmm8, -136(%rsp)",
        "movaps %xmm8, -16(%rsp)",
        "movq %rdi, 8(%rsp)",
        "movq %rsp, %rdx; andq $-64, %rdx; movaps %xmm8, -80(%rdx)",
        "addq $136, %rsp; subq $136, %rsp",
        "subq $200, %rsp; movq %rdi, (%rsp); addq $200, %rsp; movq -200(%rsp), %rdi",
        "movq (%rcx), %rdx; movb $0, (%rdx)",
        "movq $0, (%rdx)",
        "movq (%rcx), %rdx; movq %rdx, (%rcx)",
        "movq 16(%rcx), %rdx",
        "movq 8(%r8), %rdx",
        "movq (%rdx), %rdx",
        "movq 4(%rcx), %rdx",
        "movq (%rcx), %rdx; movdqu 1(%rdx), %xmm2",
        "movq (%rcx), %rdx; movdqu -1(%rdx), %xmm2",
    ):
        yield Attack(text, x86(before=f"test %rdi, %rdi; jz 9f; {text}"))
    for text in (
        "movdqu (%r10,%rax,2), %xmm2",
        "movdqu 16(%r10,%rax), %xmm2",
        "movntdq %xmm0, (%r9,%rax)",
        "pxor %xmm2, %xmm2; movdqu %xmm2, (%r9,%rax)",
    ):
        yield Attack(text, x86(inside=text))
    aligned = {"aligned": 16}
    stream = "movntdq %xmm0, (%r9,%rax)"
    yield Attack("unfenced", x86(inside=stream), words=aligned)
    yield Attack("fenced-before", x86(inside=f"sfence; {stream}"), words=aligned)
    yield Attack("fenced-often", x86(inside=f"{stream}; cmpq $64, %rdi; jae 7f; sfence; 7:"), words=aligned)
    again = "movdqu (%r10,%rax), %xmm0; movdqu (%r11,%rax), %xmm1; pxor %xmm1, %xmm0"
    for store in ("movdqu", "movq"):
        text = f"{store} %xmm0, (%r9,%rax); {again}"
        yield Attack(f"in-place-{store}", x86(inside=text), words={"in_place": True})
    for text in (
        "str x0, [sp, #8]",
        "stur x0, [sp, #-16]",
        "mov x9, sp; sub x9, x9, #8; str x0, [x9]",
        "sub sp, sp, #8; str x0, [sp]; add sp, sp, #8",
        "add sp, sp, #16; sub sp, sp, #16",
        "mov x9, sp; add sp, sp, #4080; mov sp, x9",
    ):
        yield Attack(f"a64 {text}", a64(before=text), A64)
    yield Attack("a64-d8", a64(inside="mov v8.16b, v0.16b"), A64)
    for text in (
        "std 3, -296(1)",
        "std 3, 24(1)",
        "std 3, 0(1)",
        "stdu 1, -40(1); addi 1, 1, 40",
        "addi 1, 1, -32; addi 1, 1, 32",
        "lvx 2, 0, 8",
    ):
        yield Attack(f"power {text}", power(before=text), POWER)
    for kept in ("xxlor 52, 0, 0", "xxlor 14, 0, 0", "li 14, 0", "li 2, 0", "cmpldi 2, 3, 16"):
        yield Attack(f"power-kept {kept}", power(before=kept), POWER)


def secrets() -> Iterator[Attack]:
    """Addresses, branches and counts that depend on data or private values."""
    for text in (
        "movq %xmm0, %rdx; prefetcht0 (%rdx)",
        "movq %xmm0, %rdx; andl $15, %edx; movdqu (%r10,%rdx), %xmm2",
        "movq %xmm0, %rdx; testq %rdx, %rdx; jz 7f; nop; 7:",
        "pmovmskb %xmm0, %edx; testl %edx, %edx; jz 7f; nop; 7:",
        "movq %xmm0, %rdx; testq %rdx, %rdx; cmovzq %r10, %rdx",
        "movq %xmm0, %rdx; divq %rdx",
        "testq $1, %rbx; cmovzq %rdi, %rdx",
        "testq %r15, %r15; cmovzq %rdi, %rdx",
    ):
        yield Attack(text, x86(inside=text))
    for text in (
        "fmov x9, d0; prfm pldl1keep, [x9]",
        "cmp x19, x0; b.eq 7f; nop; 7:",
        "tst x19, #1; csel x9, x0, x1, eq",
        "cmp x19, #0; cset x9, eq; cbz x9, 7f; nop; 7:",
        "prfm pldl1keep, [x30]",
    ):
        yield Attack(f"a64 {text}", a64(inside=text), A64)
    for text in ("dcbt 0, 14", "mflr 12; dcbt 0, 12", "mflr 0; dcbt 8, 0", "bso 7f; nop; 7:"):
        yield Attack(f"power {text}", power(before=text), POWER)


def features() -> Iterator[Attack]:
    """Instructions that the promised processor does not have."""
    for text in (
        "vpxor %xmm2, %xmm2, %xmm2",
        "gf2p8affineqb $0, %xmm2, %xmm2",
        "pinsrb $0, %eax, %xmm2",
        "movdiri %rax, (%r9)",
        "bzhi %rax, %rax, %rdx",
        "prefetch (%r10)",
        "clflush (%r9,%rax)",
        "movq %rdi, %mm0",
        "emms",
        "rdtsc",
    ):
        yield Attack(text, x86(inside=text))
    yield Attack("upper-halves", x86(inside="vpxor %ymm2, %ymm2, %ymm2"), words={"isa": "avx2"})
    for name, word in {"add": 0x04E0016B, "mov": 0x05E03929, "eor": 0x04A03129}.items():
        yield Attack(f"sve-{name}", a64(before=f"mov x9, #0; mov x11, #0; .inst {word:#x}"), A64)
    yield Attack("eor3", a64(inside="movi v2.16b, #0; eor3 v0.16b, v0.16b, v2.16b, v2.16b"), A64)


def relocations() -> Iterator[Attack]:
    """Fields that a linker fills in otherwise than the verifier."""
    for first, second in (("z - 4", "y - 4"), ("y - 4", "z - 4")):
        code = f""".byte 0x66, 0x0f, 0xef, 0x05
    5: .long 0
    .reloc 5b, R_X86_64_PC32, {first}
    .reloc 5b, R_X86_64_PC32, {second}"""
        yield Attack(f"two {first}", x86(inside=code, data=_ZERO))
    within = {
        "8": "7: psrlw $0, %xmm2; .reloc 7b + 4, R_X86_64_8, 4",
        "PC8": "7: .byte 0xeb, 0; .reloc 7b + 1, R_X86_64_PC8, 8f - 1; 8:",
        "16": "7: movdqu y(%rip), %xmm2; .reloc 7b + 4, R_X86_64_PC16, z - 4",
        "GOTTPOFF": 'movq t@GOTTPOFF(%rip), %rdx\n.section .tdata, "awT"\nt: .quad 0\n.text',
    }
    for name, code in within.items():
        yield Attack(f"type-{name}", x86(inside=code, data=_ZERO))
    for target, kind in (("f", "PC64"), ("f", "SIZE64"), ("f", "64"), ("q", "64")):
        data = _constant('.rodata.y, "a"') + f"\n.reloc z, R_X86_64_{kind}, {target}\n.weak q\nq = 0"
        yield Attack(f"data-{kind}-{target}", x86(inside=_PXOR_Z, data=data))
    relaxed = (
        "6: movq z@GOTPCREL(%rip), %rdx; movd 6b - 1(%rip), %xmm2; movd x(%rip), %xmm3; pxor %xmm3, %xmm2"
    )
    code = "\nx: .byte 0xc1, 0x48, 0x8b, 0x15"
    yield Attack("relaxed", x86(inside=f"{relaxed}; pxor %xmm2, %xmm0", data=_ZERO + code))
    yield Attack(
        "weak-slot", x86(inside="movq z@GOTPCREL(%rip), %rdx; pxor (%rdx), %xmm0", data=".weak z\n" + _ZERO)
    )
    for kind in ("gnu_indirect_function", "object", "tls_object"):
        yield Attack(f"type-{kind}", x86().replace("@function", f"@{kind}"))
    pointers = _constant('.rdata, "dr"', ".quad 0, 0, -1, -1\np: .quad z + 16")
    yield Attack("coff-pointer", coff(_THROUGH, pointers), COFF, {"abi": "ms"})
    yield Attack("pointer", x86(inside=_THROUGH, data=pointers.replace('.rdata, "dr"', ".rodata")))


def sections() -> Iterator[Attack]:
    """Sections that a linker drops, merges, replaces or moves."""
    for flags in ('"axe"', '"axM", @progbits, 16', '"axMS", @progbits, 1', '"axG", @progbits, g'):
        text = x86(section=f".text.f, {flags}", inside=".fill 64, 1, 0x90")
        yield Attack(f"code {flags}", text)
    yield Attack("code-once", x86(section='.gnu.linkonce.t.f, "ax", @progbits'))
    for section in (
        '.rodata.z, "aT"',
        '.rodata.z, "ae"',
        '.rodata.z, "ao", @progbits, .text',
        '.rodata.z, "a", @nobits',
        '.rodata.z, "a", @note',
        '.tbss, "awT", @nobits',
        '.init_array, "a"',
        '.gcc_except_table, "a"',
        '.data.rel.ro, "aw"',
    ):
        content = ".zero 16" if "nobits" in section else ".quad 0, 0"
        yield Attack(f"constant {section}", x86(inside=_PXOR_Z, data=_constant(section, content)))
    for offset in (-8, 8):
        shifted = _PXOR_Z.replace("z(", f"z{offset:+}(")
        yield Attack(f"beside {offset}", x86(inside=shifted, data=_constant('.rodata.z, "a"')))
    own = "movd f(%rip), %xmm2; movd z(%rip), %xmm3; pxor %xmm3, %xmm2; pxor %xmm2, %xmm0"
    yield Attack(
        "own-code", x86(inside=own, data=_constant('.rodata.z, "a"', ".byte 0x48, 0x85, 0xff, 0x74"))
    )


_KEPT = "pushq %rbx; .cfi_adjust_cfa_offset 8; .cfi_rel_offset %rbx, 0; xorl %ebx, %ebx"
_BACK = "popq %rbx; .cfi_adjust_cfa_offset -8; .cfi_restore %rbx"
#: A second entry for the function, with another frame.
_SECOND_ENTRY = """
    .section .eh_frame, "a", @unwind
5:  .long 7f - 6f
6:  .long 0
    .byte 1
    .asciz "zR"
    .byte 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1
    .balign 8
7:  .long 9f - 8f
8:  .long 8b - 5b
    .long f + 20 - .
    .long 20
    .byte 0, 0x0c, 7, 64
    .balign 8
9:
"""


def unwinding(first: str, before: str = _KEPT, after: str = _BACK, data: str = "") -> str:
    text = x86(before=f"{first}; {before}", after=after, data=data)
    return text.replace("f:  ", "f: .cfi_startproc\n").replace(".size f", ".cfi_endproc\n.size f")


def tables() -> Iterator[Attack]:
    """Unwind tables that do not describe the function."""
    for rule in (
        ".cfi_return_column 0",
        ".cfi_window_save",
        ".cfi_signal_frame",
        ".cfi_personality 3, f",
        ".cfi_undefined %rip",
        ".cfi_same_value %rip",
        ".cfi_offset 16, -16",
        ".cfi_register %rbx, %rax",
        ".cfi_escape 0x0f, 2, 0x77, 16",
        ".cfi_escape 0x2e, 16",
        ".cfi_offset %rsp, -24",
        ".cfi_def_cfa %rsp, 16",
    ):
        yield Attack(rule, unwinding(f"nop; {rule}"), words={"unwind": True})
    for wrong, text in {
        "none": "pushq %rbx; xorl %ebx, %ebx",
        "late": f"pushq %rbx; nop; {_KEPT.partition('; ')[2]}",
        "no-register": "pushq %rbx; .cfi_adjust_cfa_offset 8; xorl %ebx, %ebx",
        "other-register": _KEPT.replace("rel_offset %rbx", "rel_offset %r12"),
    }.items():
        back = "popq %rbx" if wrong == "none" else "popq %rbx; .cfi_adjust_cfa_offset -8"
        yield Attack(wrong, unwinding("nop", text, back), words={"unwind": True})
    yield Attack("two-entries", unwinding("nop", data=_SECOND_ENTRY), words={"unwind": True})


def _go(before: str, after: str = "") -> str:
    return f"""
    .globl f
    .type f, @function
f:  movq 8(%rsp), %rdi
    test %rdi, %rdi
    jz 9f
    movq 32(%rsp), %rcx
    movq 40(%rsp), %r8
    {before}
    movq (%rcx), %r10
    movq 8(%rcx), %r11
    movq (%r8), %r9
    xorl %eax, %eax
8:  movdqu (%r10,%rax), %xmm0
    movdqu (%r11,%rax), %xmm1
    pxor %xmm1, %xmm0
    movdqu %xmm0, (%r9,%rax)
    addq $16, %rax
    cmpq %rdi, %rax
    jb 8b
    {after}
9:  ret
    .size f, . - f
    """


def conventions() -> Iterator[Attack]:
    """Rules of Go and of Windows."""
    go: dict[str, Any] = {"abi": "go-amd64"}
    for size in (800, 1000, 4000):
        text = _go(f"subq ${size}, %rsp; movq %rax, (%rsp)", f"addq ${size}, %rsp")
        yield Attack(f"go-stack-{size}", text, words=go)
    for text in ("xorl %ebp, %ebp", "movq %rdi, -8(%rsp)", "movq %rdi, 8(%rsp)"):
        yield Attack(f"go {text}", _go(text), words=go)
    aligned = _go("subq $24, %rsp; movaps %xmm0, (%rsp)", "addq $24, %rsp")
    yield Attack("go-movaps", aligned, words=go)
    for text in (
        "movq %rcx, 40(%rsp)",
        "movdqu %xmm0, 32(%rsp)",
        "movq %rcx, -8(%rsp)",
        "pxor %xmm6, %xmm6",
        "xorl %edi, %edi",
        "xorl %esi, %esi",
    ):
        yield Attack(f"ms {text}", coff("", "").replace("f:  ", f"f: {text}\n    "), COFF, {"abi": "ms"})


FAMILIES = {
    family.__name__: tuple(family())
    for family in (
        loops,
        narrow,
        control,
        places,
        secrets,
        features,
        relocations,
        sections,
        tables,
        conventions,
    )
}
#: Kernels for x86 without a flaw, and words of their descriptions.
HARMLESS: dict[str, tuple[str, dict[str, Any]]] = {
    "tables": (unwinding("nop"), {"unwind": True}),
    "go": (_go("subq $512, %rsp; movq %rax, (%rsp)", "addq $512, %rsp"), {"abi": "go-amd64"}),
    "own-data": (x86(inside="movd 5f(%rip), %xmm2; pxor %xmm2, %xmm0; jmp 7f; 5: .long 0; 7:"), {}),
    "pointer": (x86(inside=_THROUGH, data=_constant(".rodata", ".quad 0, 0\np: .quad z")), {}),
}
