"""Kernels with one flaw each, in families: the sum of two sources, which the prover must not call proved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any

X86, COFF = "x86", "coff"
A64, POWER = "a64", "power"


@dataclass(frozen=True, slots=True)
class Attack:
    """One kernel `f`. words: of the description, besides those of the base (`test_attacks.py`)."""

    name: str
    text: str
    machine: str = X86
    words: dict[str, Any] = field(default_factory=dict)


def x86(
    *,
    before: str = "",
    inside: str = "",
    after: str = "",
    data: str = "",
    section: str = ".text",
    symbol: str = ".globl f",
) -> str:
    """A loop over 16 bytes per iteration. inside: runs with the sum in xmm0. after: runs before ret."""
    return f"""
    .section {section}
    {symbol}
    .type f, @function
f:  {before}
    test %rdi, %rdi
    jz 9f
    movq (%rcx), %r10
    movq 8(%rcx), %r11
    movq (%r8), %r9
    xorl %eax, %eax
8:  movdqu (%r10,%rax), %xmm0
    movdqu (%r11,%rax), %xmm1
    pxor %xmm1, %xmm0
    {inside}
    movdqu %xmm0, (%r9,%rax)
    addq $16, %rax
    cmpq %rdi, %rax
    jb 8b
9:  {after}
    ret
    .size f, . - f
    {data}
    """


def a64(*, before: str = "", inside: str = "", data: str = "") -> str:
    return f"""
    .text
    .globl f
    .type f, %function
f:  cbz x0, 9f
    ldp x5, x6, [x3]
    ldr x7, [x4]
    mov x8, #0
    {before}
8:  ldr q0, [x5, x8]
    ldr q1, [x6, x8]
    eor v0.16b, v0.16b, v1.16b
    {inside}
    str q0, [x7, x8]
    add x8, x8, #16
    cmp x8, x0
    b.lo 8b
9:  ret
    .size f, . - f
    {data}
    """


def power(*, before: str = "") -> str:
    return f"""
    .abiversion 2
    .text
    .globl f
    .type f, @function
f:  cmpldi 3, 0
    beqlr
    ld 8, 0(6)
    ld 9, 8(6)
    ld 10, 0(7)
    li 11, 0
    {before}
8:  lxvd2x 0, 8, 11
    lxvd2x 1, 9, 11
    xxlxor 0, 0, 1
    stxvd2x 0, 10, 11
    addi 11, 11, 16
    cmpld 11, 3
    blt 8b
    blr
    .size f, . - f
    """


MASK = ".section .rodata\n .p2align 4\nmask: .fill 16, 1, {}"


def crossings() -> Iterator[Attack]:
    """Bits of a neighbouring byte that are added to each other, so that a single unknown would cancel."""
    for shift, count, again in product(("psrlw", "psrlq", "psraw"), (2, 3, 4, 5, 6), (1, 2)):
        kept = (0xFF << 8 - count & 0xFF) & (0xFF >> again)
        if count <= again or not kept & 0xFF << (8 - count) & 0xFF:
            continue
        body = f"""movdqa %xmm0, %xmm2; {shift} ${count}, %xmm2; movdqa %xmm2, %xmm3; psrlq ${again}, %xmm3
        pxor %xmm3, %xmm2; pand mask(%rip), %xmm2; pxor %xmm2, %xmm0"""
        mask = (0xFF << 8 - count & 0xFF) >> again & 0xFF << 8 - count & 0xFF
        yield Attack(f"{shift}-{count}-{again}", x86(inside=body, data=MASK.format(mask)))
    multiplied = (
        "movdqa %xmm0, %xmm2; psrlq $4, %xmm2; gf2p8affineqb $0, mask(%rip), %xmm2; pxor %xmm2, %xmm0"
    )
    for place, row in product((0, 3, 7), (0x30, 0xC0, 0xF0)):
        data = f".section .rodata\n .p2align 4\nmask: .quad {row << 8 * place:#x}, {row << 8 * place:#x}"
        name = f"affine-{place}-{row:#x}"
        yield Attack(name, x86(inside=multiplied, data=data), words={"isa": "gfni_sse"})
    for lanes, again in product(("2d", "4s", "8h"), (1, 2)):
        body = f"""ushr v2.{lanes}, v0.{lanes}, #4; ushr v3.{lanes}, v2.{lanes}, #{again}
        eor v2.16b, v2.16b, v3.16b; movi v3.16b, #{0xF0 >> again & 0xF0}; and v2.16b, v2.16b, v3.16b
        eor v0.16b, v0.16b, v2.16b"""
        yield Attack(f"ushr-{lanes}-{again}", a64(inside=body), A64)


def stack_forms() -> Iterator[Attack]:
    """push and pop of other sizes and operands than 64-bit registers."""
    for name in ("bx", "bp", "r12w", "r13w", "r14w", "r15w"):
        full = f"%{name[:-1]}d" if name[0] == "r" else f"%e{name}"
        yield Attack(
            f"pushw-{name}", x86(before=f"pushw %{name}", after=f"xorl {full}, {full}; popw %{name}")
        )
    yield Attack("pop-rsp", x86(after="pushq %rax; popq %rsp"))
    yield Attack("popw-sp", x86(after="pushq %rax; popw %sp"))
    yield Attack("pushq-number", x86(before="pushq $5", after="popq %rbx"))
    yield Attack("push-memory", x86(before="pushq (%rcx)", after="popq %rbx"))
    yield Attack("pop-memory", x86(before="pushq %rbx", after="popq (%rcx)"))
    yield Attack("pushfq", x86(before="pushfq", after="popq %rbx"))
    yield Attack("leave", x86(before="pushq %rbp; movq %rsp, %rbp", after="leave; leave"))
    yield Attack("enter", x86(before=".byte 0xc8, 0, 0, 0", after="popq %rbp; popq %rbp"))


PREFIXES = ("26", "2e", "36", "3e", "64", "65", "66", "67", "f0", "f2", "f3")
_PREFIXED = {
    "jmp8": ("eb 00", ""),
    "jmp32": ("e9 00 00 00 00", ""),
    "jz8": ("74 00", "test %rdi, %rdi"),
    "jz32": ("0f 84 00 00 00 00", "test %rdi, %rdi"),
    "movdqa": ("66 0f 6f d0", ""),
    "add": ("48 83 c0 00", ""),
    "push-pop": ("53 5b", ""),
}


def prefixes() -> Iterator[Attack]:
    """Redundant legacy prefixes, each on branches, returns and moves, in the loop and at its end."""
    for prefix, (name, (code, first)) in product(PREFIXES, _PREFIXED.items()):
        body = f"{first}\n .byte {', '.join('0x' + byte for byte in (prefix, *code.split()))}"
        yield Attack(f"{prefix}-{name}", x86(inside=body))
    for prefix in PREFIXES:
        yield Attack(f"{prefix}-ret", x86(after=f".byte 0x{prefix}, 0xc3"))
    for code in ("48 66 0f ef d2", "40 f3 0f 6f d0", "66 f3 0f 6f d0", "66 66 0f ef d2"):
        body = f".byte {', '.join('0x' + byte for byte in code.split())}"
        yield Attack(f"order-{code.replace(' ', '')}", x86(inside=body))


_ALIGNED = ("pxor z(%rip), %xmm0", "movdqa z(%rip), %xmm2", "movaps z(%rip), %xmm2", "pshufb z(%rip), %xmm2")


def alignments() -> Iterator[Attack]:
    """Aligned accesses to constants in sections that do not guarantee the alignment."""
    for instruction, power_of_two in product(_ALIGNED, (0, 2, 3)):
        data = f'.section .rodata.z, "a"\n .p2align {power_of_two}\nz: .fill 16, 1, 0'
        clear = "pxor %xmm2, %xmm2; "
        name = f"{instruction.split()[0]}-{1 << power_of_two}"
        yield Attack(name, x86(inside=clear + instruction, data=data))
    for offset in (1, 4, 8):
        data = f'.section .rodata.z, "a"\n .p2align 4\n .fill {offset}, 1, 0\nz: .fill 32, 1, 0'
        yield Attack(f"offset-{offset}", x86(inside="pxor z(%rip), %xmm0", data=data))
    behind = ".p2align 4\nz: .fill 16, 1, 0"
    yield Attack("behind-function", x86(inside="pxor z(%rip), %xmm0", data=behind))


_TWO = '.section .rodata.a, "a"\na: .byte 1\n.section .rodata.b, "a"\nb: .byte 1'
_ONE = '.section .rodata.a, "a"\n.p2align 4\na: .quad 0, 0, 0, 0'


def addresses() -> Iterator[Attack]:
    """Addresses taken for numbers, data, distances and conditions."""
    for jump in ("ja", "jb", "jae", "jbe", "je", "jne", "jl", "jg"):
        text = f"leaq a(%rip), %rdx; movl $0x40000000, %eax; cmpq %rax, %rdx; {jump} 9f"
        yield Attack(f"number-{jump}", x86(before=text, data=_ONE))
        text = f"leaq a(%rip), %rax; leaq b(%rip), %rdx; cmpq %rax, %rdx; {jump} 9f"
        yield Attack(f"two-sections-{jump}", x86(before=text, data=_TWO))
    for mask in (1, 7, 15, 63, 4095):
        yield Attack(
            f"low-bits-{mask}",
            x86(before=f"leaq a(%rip), %rax; test ${mask}, %rax; jz 7f; nop; 7:", data=_ONE),
        )
    yield Attack("data", x86(inside="leaq a(%rip), %rdx; movq %rdx, %xmm2; pxor %xmm2, %xmm0", data=_ONE))
    yield Attack("shifted", x86(before="leaq a(%rip), %rdx; shrq $40, %rdx; jnz 9f", data=_ONE))
    yield Attack("absolute", x86(inside="pxor a, %xmm0", data=_ONE))
    yield Attack("immediate", x86(inside="movl $a, %edx; pxor (%rdx), %xmm0", data=_ONE))
    yield Attack("wide-immediate", x86(inside="movabsq $a, %rdx; pxor (%rdx), %xmm0", data=_ONE))
    yield Attack("layout", x86(inside="movl $0x10001000, %edx; pxor (%rdx), %xmm0", data=_ONE))
    yield Attack("32-bit-relative", x86(inside="pxor a(%eip), %xmm0", data=_ONE))
    distance = '.section .rodata.c, "a"\n.p2align 4\nc: .quad a - c, 0'
    yield Attack("distance-as-data", x86(inside="pxor c(%rip), %xmm0", data=_ONE + "\n" + distance))
    pointer = '.section .data.rel.ro, "aw"\n.p2align 4\nc: .quad a, 0'
    yield Attack("pointer-as-data", x86(inside="pxor c(%rip), %xmm0", data=_ONE + "\n" + pointer))
    yield Attack("far", x86(inside="pxor a+0x11000(%rip), %xmm0", data=_ONE))
    yield Attack(
        "own-bytes", x86(inside="movdqu f(%rip), %xmm2; pxor a(%rip), %xmm0; pxor %xmm2, %xmm0", data=_ONE)
    )
    for jump in ("hs", "lo", "eq", "ne"):
        text = f"adrp x9, f; mov x10, #0x40000000; cmp x9, x10; b.{jump} 9f"
        yield Attack(f"adrp-{jump}", a64(before=text), A64)
    yield Attack("adrp-shifted", a64(before="adrp x9, f; lsr x9, x9, #33; cbnz x9, 9f"), A64)
    yield Attack("adr-bit", a64(before="adr x9, f; tbnz x9, #34, 9f"), A64)
    load = "adrp x9, z; ldr q2, [x9]; eor v0.16b, v0.16b, v2.16b"
    yield Attack(
        "adrp-without-low", a64(inside=load, data=".section .rodata\n.p2align 4\nz: .fill 64, 1, 0"), A64
    )


def immediates() -> Iterator[Attack]:
    """Immediates that shift ones in."""
    for value, shift in product((0x12, 0x80, 1, 0xFE), (8, 16)):
        body = f"movi v2.4s, #{value}, msl #{shift}; movi v3.4s, #{value}, lsl #{shift}"
        body += "; eor v2.16b, v2.16b, v3.16b"
        yield Attack(f"msl-{value}-{shift}", a64(inside=body + "; eor v0.16b, v0.16b, v2.16b"), A64)


def wraps() -> Iterator[Attack]:
    """Comparisons of addresses that may wrap around."""
    for count, jump in product((25, 33, 40, 55), ("jbe", "jb")):
        text = f"movq (%rcx), %rsi; movq %rdi, %rdx; shlq ${count}, %rdx; addq %rsi, %rdx"
        text += f"; cmpq %rsi, %rdx; {jump} 9f"
        yield Attack(f"shl-{count}-{jump}", x86(before=f"test %rdi, %rdi; jz 9f; {text}"))
    negative = "movq (%rcx), %rsi; leaq -0x40000000(%rsi), %rdx; cmpq %rsi, %rdx; jae 9f"
    yield Attack("before", x86(before=negative))
    beyond = "movq (%rcx), %rsi; leaq 0x40000000(%rsi), %rdx; cmpq %rsi, %rdx; jbe 9f"
    yield Attack("behind", x86(before=beyond))
    for count in (30, 45):
        yield Attack(
            f"a64-add-{count}", a64(before=f"add x9, x5, x0, lsl #{count}; cmp x9, x5; b.ls 9f"), A64
        )
        text = f"sldi 12, 3, {count}; add 12, 12, 8; cmpld 12, 8; blelr"
        yield Attack(f"power-{count}", power(before=text), POWER)
    far = "lis 12, 0x7fff; add 12, 12, 8; cmpld 12, 8; blelr"
    yield Attack("power-far", power(before=far), POWER)


def depths() -> Iterator[Attack]:
    """More stack than a thread may have, and guard pages that are passed."""
    for size in (0x1800, 0x10000, 0x100000, 0x7FFF0000):
        keep = f"subq ${size}, %rsp; movdqu %xmm9, (%rsp)"
        yield Attack(f"sub-{size:#x}", x86(before=keep, after=f"addq ${size}, %rsp"))
    steps = "\n".join("subq $4080, %rsp; movq %rax, (%rsp)" for _ in range(17))
    yield Attack("pages", x86(before=steps, after="addq $69360, %rsp"))
    unprobed = "subq $4080, %rsp; subq $4080, %rsp; movq %rax, (%rsp)"
    yield Attack("unprobed", x86(before=unprobed, after="addq $8160, %rsp"))
    yield Attack(
        "lea", x86(before="leaq -5000(%rsp), %rsp; pushq %rbx", after="popq %rbx; leaq 5000(%rsp), %rsp")
    )
    for size in (0x11000, 0xFFF000):
        text = f"sub sp, sp, #{size:#x}; str q9, [sp]; add sp, sp, #{size:#x}"
        yield Attack(f"a64-{size:#x}", a64(before=text), A64)


def merges() -> Iterator[Attack]:
    """Constants that cross the entries of sections which the linker merges."""
    for size, offset in ((16, 8), (16, 1), (8, 0), (4, 0), (32, 24)):
        data = f'.section .rodata.cst, "aM", @progbits, {size}\n.p2align 4\nz: .fill 64, 1, 0'
        yield Attack(
            f"entry-{size}-{offset}",
            x86(inside=f"movdqu z+{offset}(%rip), %xmm2; pxor %xmm2, %xmm0", data=data),
        )
    strings = '.section .rodata.str, "aMS", @progbits, 1\nz: .fill 15, 1, 1\n.byte 0'
    twice = "movdqu z(%rip), %xmm2; pxor %xmm2, %xmm0; pxor %xmm2, %xmm0"
    yield Attack("strings", x86(inside=twice, data=strings))


def private_values() -> Iterator[Attack]:
    """Branches and prefetches that depend on callee-saved registers or the return address."""
    for register, mask in product(("rbx", "rbp", "r12", "r15"), (1, 63)):
        yield Attack(f"test-{register}-{mask}", x86(before=f"test ${mask}, %{register}; jz 7f; nop; 7:"))
    yield Attack("test-return", x86(before="movq (%rsp), %rax; test $15, %rax; jz 7f; nop; 7:"))
    yield Attack("or", x86(before="movq %rbx, %rax; orq %rcx, %rax; test $15, %rax; jz 7f; nop; 7:"))
    yield Attack("test-stack", x86(before="test $31, %rsp; jz 7f; nop; 7:"))
    yield Attack("prefetch", x86(before="prefetcht0 (%rbx)"))
    yield Attack("prefetch-sum", x86(before="movq (%rcx), %rax; prefetcht0 (%rax,%r12)"))
    yield Attack("prefetch-return", x86(before="movq (%rsp), %rax; prefetchnta (%rax)"))
    yield Attack("a64-tst", a64(before="tst x20, #15; b.eq 7f; nop; 7:"), A64)
    yield Attack("a64-prefetch", a64(before="prfm pldl1keep, [x19]"), A64)


def writable() -> Iterator[Attack]:
    """Code that may change."""
    for flags in ("awx", "axw"):
        yield Attack(f"section-{flags}", x86(section=f'.code_{flags}, "{flags}", @progbits'))
    data = '.section .data.z, "aw"\n.p2align 4\nz: .fill 16, 1, 0'
    yield Attack("data", x86(inside="pxor z(%rip), %xmm0", data=data))


def replaceable() -> Iterator[Attack]:
    """Definitions that another file's may replace, and names of several functions."""
    for bind in (".weak z", ".weak z; .hidden z"):
        data = f".section .rodata\n.p2align 4\n{bind}\nz: .fill 16, 1, 0"
        yield Attack(f"constant {bind.replace('.', '')}", x86(inside="pxor z(%rip), %xmm0", data=data))
    group = '.section .rodata.z, "aG", @progbits, sign, comdat\n.p2align 4\nz: .fill 16, 1, 0'
    yield Attack("comdat-constant", x86(inside="pxor z(%rip), %xmm0", data=group))
    once = '.section .gnu.linkonce.r.z, "a"\n.p2align 4\nz: .fill 16, 1, 0'
    yield Attack("linkonce-constant", x86(inside="pxor z(%rip), %xmm0", data=once))
    yield Attack("common", x86(inside="pxor z(%rip), %xmm0", data=".comm z, 16, 16"))
    yield Attack("weak-function", x86(symbol=".weak f"))
    yield Attack("comdat-function", x86(section='.text.f, "axG", @progbits, f, comdat'))
    tables = '.section .eh_frame, "a"\n.p2align 4\nz: .fill 16, 1, 0'
    yield Attack("frame-table", x86(inside="movdqu z(%rip), %xmm2; pxor %xmm2, %xmm0", data=tables))
    data = '.section .rdata$z, "dr"\n.linkonce discard\n.globl z\n.p2align 4\nz: .fill 16, 1, 0'
    yield Attack("selectany", coff("pxor z(%rip), %xmm0", data), COFF, {"abi": "ms"})
    data = '.section .rdata, "dr"\nz: .fill 16, 1, 0'
    yield Attack("rdata", coff("pxor z(%rip), %xmm0", data), COFF, {"abi": "ms"})
    yield Attack("ms-pushw", coff("pushw %si; xorl %esi, %esi; popw %si", ""), COFF, {"abi": "ms"})
    probe = "subq $8000, %rsp; movq %rax, (%rsp); addq $8000, %rsp"
    yield Attack("ms-unprobed", coff(probe, ""), COFF, {"abi": "ms"})


def coff(inside: str, data: str) -> str:
    return f"""
    .text
    .globl f
    .def f; .scl 2; .type 32; .endef
f:  test %rcx, %rcx
    jz 9f
    movq (%r9), %r10
    movq 8(%r9), %r11
    movq 40(%rsp), %r8
    movq (%r8), %r9
    xorl %eax, %eax
8:  movdqu (%r10,%rax), %xmm0
    movdqu (%r11,%rax), %xmm1
    pxor %xmm1, %xmm0
    {inside}
    movdqu %xmm0, (%r9,%rax)
    addq $16, %rax
    cmpq %rcx, %rax
    jb 8b
9:  ret
    {data}
    """


FAMILIES = {
    family.__name__: tuple(family())
    for family in (
        crossings,
        stack_forms,
        prefixes,
        alignments,
        addresses,
        immediates,
        wraps,
        depths,
        merges,
        private_values,
        writable,
        replaceable,
    )
}
