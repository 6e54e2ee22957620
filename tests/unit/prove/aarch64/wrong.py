"""Wrong variants of the AArch64 kernel dot_2x1.s, each with the reason of its refutation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Change:
    """The nth line equal to `old` becomes `new` (any number of lines); the refutation contains `reason`."""

    what: str
    old: str
    new: str
    reason: str
    nth: int = 0

    def __str__(self) -> str:
        return self.what


def _line(*parts: str) -> str:
    return "\n".join(parts)


REFUTED = (
    # value
    Change("the low table for high nibbles", "tbl v5.16b, { v2.16b }, v5.16b",
           "tbl v5.16b, { v1.16b }, v5.16b",
           "must be low(c[0][0]"),
    Change("the other source's table", "tbl v6.16b, { v3.16b }, v6.16b", "tbl v6.16b, { v1.16b }, v6.16b",
           "must be"),
    Change("a product left out", "eor v6.16b, v6.16b, v16.16b", "nop", "must be"),
    Change("and instead of eor", "eor v0.16b, v1.16b, v0.16b", "orr v0.16b, v1.16b, v1.16b", "must be"),
    Change("nibbles shifted by 3", "ushr v3.16b, v1.16b, #4", "ushr v3.16b, v1.16b, #5", "must be"),
    Change("source 0 twice", "ldr x11, [x3, #8]", "ldr x11, [x3]", "must be"),
    Change("the pieces of the tail swapped", "mov x11, v0.d[1]", "mov x11, v0.d[0]", "must be"),
    # bounds
    Change("one vector too many", "cmp x10, #15", "cmp x10, #14", "beyond its end: 16 bytes"),
    Change("a vector for 15 bytes", "cmp x0, #16", "cmp x0, #15", "beyond its end: 16 bytes"),
    Change("the last piece one byte on", "stur x11, [x8, #-8]", "stur x11, [x8, #-7]",
           "beyond its end: 8 bytes"),
    Change("eight bytes where seven are", "cmp x10, #7", "cmp x10, #6", "beyond its end: 8 bytes"),
    Change("a source read before its start", "ldr q6, [x12, x9]", "ldur q6, [x12, #-16]",
           "before its first byte"),
    Change("a third pointer", "ldp x11, x12, [x3]", "ldp x11, x12, [x3, #8]", "&srcs beyond its end"),
    Change("a third coefficient", "ldp q2, q4, [x2, #32]", "ldp q2, q4, [x2, #48]", "&coeffs beyond its end"),
    # every byte
    Change("a byte never written", "strb w12, [x8, x9]", "nop", "of dst[0] only"),
    Change("len below 16 forgotten", "b.lo .L6", "b.lo .L5", "of dst[0] only"),
    Change("one iteration only", "b.hi .L3", "nop", "of dst[0] only"),
    # ABI
    Change("x19 overwritten", "mov x9, xzr", "mov x9, xzr\nmov x19, x0", "x19 is not preserved"),
    Change("v8 overwritten", "movi v0.16b, #15", "movi v0.16b, #15\nmovi v8.16b, #1", "d8 is not preserved"),
    Change("v8 restored from another slot", "mov x9, xzr", _line(
        "stp d8, d9, [sp, #-16]!", "movi v8.16b, #1", "ldp d9, d8, [sp], #16", "mov x9, xzr"),
        "d8 is not preserved"),
    Change("the frame left behind", "mov x9, xzr", "mov x9, xzr\nsub sp, sp, #16", "stack pointer"),
    Change("the stack pointer at 8 modulo 16", "mov x9, xzr", _line(
        "sub sp, sp, #8", "add sp, sp, #8", "mov x9, xzr"), "no multiple of 16"),
    Change("below the stack pointer", "mov x9, xzr", "mov x9, xzr\nstr x0, [sp, #-16]", "signal handler"),
    Change("the caller's frame", "mov x9, xzr", "mov x9, xzr\nstr x0, [sp, #16]", "caller's frame"),
    Change("x30 overwritten", "mov x9, xzr", "mov x9, xzr\nmov x30, x0", "x30 is not the return address"),
    # constant time
    Change("a branch on data", "movi v2.16b, #15", "movi v2.16b, #15\ncbz x11, .L27", "computes with data"),
    Change("a branch on a bit of data", "fmov x12, d0", "fmov x12, d0\ntbz w12, #3, .L27",
           "computes with data"),
    Change("a comparison of data", "fmov x12, d0", "fmov x12, d0\ncmp x12, #0", "computes with data"),
    Change("an address from data", "fmov x12, d0", "fmov x12, d0\nldrb w13, [x2, x12]", "computes with data"),
    Change("a branch on an uninitialized register", "mov x9, xzr", "mov x9, xzr\ncbz x15, .L5",
           "computes with data"),
    # instruction set
    Change("eor3", "eor v5.16b, v5.16b, v7.16b", "eor3 v5.16b, v5.16b, v7.16b, v7.16b", "needs SHA3"),
    Change("an instruction of SVE", "mov x9, xzr", ".arch_extension sve\nmov x9, xzr\neor z9.d, z9.d, z9.d",
           "needs SVE"),
    Change("no instruction", "mov x9, xzr", "mov x9, xzr\nudf #0", "no valid instruction"),
    # control
    Change("no return", "ret", "nop", "control leaves the function", nth=-1),
)  # fmt: skip

UNSUPPORTED = (
    Change("len compared as signed", "b.lo .L6", "b.lt .L6", "may wrap"),
    Change("a call", "mov x9, xzr", "bl kernel\nmov x9, xzr", "bl "),
    Change("a return elsewhere", "ret", "ret x8", "ret x8"),
    Change("an instruction without semantics", "mov x9, xzr", "mov x9, xzr\nrbit x5, x0", "no semantics"),
    Change(
        "arithmetic on registers of SVE",
        "mov x9, xzr",
        ".arch_extension sve\nmov x9, xzr\nsub z9.d, z9.d, z9.d",
        "no semantics",
    ),
    Change(
        "a move of predicates",
        "mov x9, xzr",
        ".arch_extension sve\nmov x9, xzr\nmov p9.b, p0.b",
        "no semantics",
    ),
    Change("an index above 15", "and v7.16b, v5.16b, v0.16b", "mov v7.16b, v5.16b", "may exceed 15"),
)

EQUIVALENT = (
    Change("a hint", "mov x9, xzr", "bti c\nnop\nmov x9, xzr", ""),
    Change("x18 overwritten", "mov x9, xzr", "mov x9, xzr\nmov x18, x0", ""),
    Change("v8 kept in the frame", "mov x9, xzr", _line(
        "stp d8, d9, [sp, #-16]!", "movi v8.16b, #1", "ldp d8, d9, [sp], #16", "mov x9, xzr"), ""),
    Change("the upper half of v8", "mov x9, xzr", "mov x9, xzr\nmov v8.d[1], xzr", ""),
    Change("sums in another order", "eor v5.16b, v5.16b, v7.16b", "eor v5.16b, v7.16b, v5.16b", ""),
    Change("a load that moves its base", "ldr x8, [x4]", "ldr x8, [x4], #8", ""),
)  # fmt: skip
