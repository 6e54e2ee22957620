"""Wrong variants of the SVE2 kernel dot_2x1_sve2.s, each with the reason of its refutation."""

from __future__ import annotations

from tests.unit.prove.aarch64.wrong import Change


def _only_at(size: int, *lines: str) -> str:
    """Return code that is executed where vectors have `size` bytes. x5 is not used otherwise."""
    return "\n".join(["mov x9, xzr", "cntb x5", f"cmp x5, #{size}", "b.ne 1f", *lines, "1:"])


_ZERO, _TAIL = "mov x9, xzr", "whilelo p0.b, xzr, x13"

REFUTED = (
    # value
    Change("the low table for high nibbles", "tbl z6.b, { z2.b }, z6.b", "tbl z6.b, { z1.b }, z6.b",
           "must be low(c[0][0]"),
    Change("the other source's table", "tbl z17.b, { z3.b }, z17.b", "tbl z17.b, { z1.b }, z17.b", "must be"),
    Change("a product left out", "eor z5.d, z5.d, z18.d", "nop", "must be"),
    Change("nibbles shifted by 5", "lsr z6.b, z5.b, #4", "lsr z6.b, z5.b, #5", "must be"),
    Change("source 0 twice", "ld1b { z17.b }, p0/z, [x12, x9]", "ld1b { z17.b }, p0/z, [x11, x9]", "must be"),
    Change("the first vector twice", "ld1b { z7.b }, p0/z, [x15, #1, mul vl]", "ld1b { z7.b }, p0/z, [x15]",
           "must be"),
    Change("a product left out of the tail", "eor3 z3.d, z3.d, z2.d, z1.d", "eor z3.d, z3.d, z1.d",
           "must be"),
    Change("the tail's table of another source", "ldp q1, q4, [x2, #32]", "ldp q1, q4, [x2]", "must be"),
    # bounds
    Change("one vector too many", "cmp x13, x10", "cmp x13, #1", "beyond its end: 16 bytes"),
    Change("one block too many", "cmp x13, x0", "cmp x10, x0", "beyond its end"),
    Change("the next vector but one", "st1b { z6.b }, p0, [x15, #1, mul vl]",
           "st1b { z6.b }, p0, [x15, #2, mul vl]", "beyond its end"),
    Change("a vector before the source", "ld1b { z5.b }, p0/z, [x11, x9]",
           "ld1b { z5.b }, p0/z, [x11, #-1, mul vl]", "before its first byte"),
    Change("a whole vector in the tail", _TAIL, "ptrue p0.b", "beyond its end: 16 bytes"),
    Change("a byte too many in the tail", _TAIL, "add x5, x13, #1\nwhilelo p0.b, xzr, x5", "beyond its end"),
    Change("all bytes in the tail", _TAIL, "whilelo p0.b, xzr, x0", "beyond its end"),
    # every byte
    Change("no byte in the tail", _TAIL, "pfalse p0.b", "of dst[0] only"),
    Change("a byte too few in the tail", _TAIL, "sub x5, x13, #1\nwhilelo p0.b, xzr, x5", "of dst[0] only"),
    Change("a tail that ends early", _TAIL, "sub x5, x13, #1\nwhilelo p1.b, xzr, x5\n"
           "b.eq .L10\nwhilelo p0.b, xzr, x13", "of dst[0] only"),
    Change("two vectors counted as three", "addvl x9, x9, #2", "addvl x9, x9, #3", "beyond its end"),
    Change("the tail never reached", "b.hs .L10", "b .L10", "of dst[0] only"),
    # ABI
    Change("x19 overwritten", _ZERO, "mov x9, xzr\ncntb x19", "x19 is not preserved"),
    Change("z8 overwritten", _ZERO, "mov x9, xzr\nmov z8.b, #0", "d8 is not preserved"),
    Change("the frame left behind", _ZERO, "mov x9, xzr\naddvl sp, sp, #-1", "stack pointer"),
    Change("a spill below the stack pointer", _ZERO, "mov x9, xzr\nstr z0, [sp, #-1, mul vl]",
           "signal handler"),
    Change("a spill into the caller's frame", _ZERO, "mov x9, xzr\nstr z0, [sp]", "caller's frame"),
    # constant time
    Change("a predicate from bytes of a source", _TAIL, "ldrb w5, [x11]\nwhilelo p0.b, xzr, x5",
           "computes with data"),
    # instruction set
    Change("no instruction", _ZERO, "mov x9, xzr\nudf #0", "no valid instruction"),
)  # fmt: skip

#: Variants that are right at 128 bits only.
BY_LENGTH = (
    Change("16 bytes counted as a vector", "addvl x9, x9, #1", "add x9, x9, #16", "of dst[0] only"),
    Change("a table loaded as whole vectors", "ldp q1, q2, [x2]",
           "ldp q1, q2, [x2]\nldr z5, [x2, #3, mul vl]", "&coeffs beyond its end"),
    Change("the low 16 bytes of a product", "eor z5.d, z5.d, z18.d", "eor v5.16b, v5.16b, v18.16b",
           "must be"),
)  # fmt: skip

#: Variants that are wrong at one length only, in bytes.
AT_ONE_LENGTH = (
    (48, Change("a length that is no power of two", _ZERO, _only_at(48, "mov z0.b, #7"), "must be")),
    (80, Change("one length, in the bounds", _ZERO, _only_at(80, "mov x9, #1"), "of dst[0] only")),
    (256, Change("the longest vectors", _ZERO, _only_at(256, "mov z8.b, #0"), "d8 is not preserved")),
)  # fmt: skip

UNSUPPORTED = (
    Change("a predicate that nothing sets", "ld1b { z1.b }, p0/z, [x10, x9]",
           "ld1b { z1.b }, p3/z, [x10, x9]", "p3 is undefined"),
    Change("a predicate from an address", _TAIL, "whilelo p0.b, xzr, x11", "may wrap around"),
    Change("single vectors left out", "b.lo .L8", "b .L8", "may be more or fewer"),
    Change("halfwords", _TAIL, "whilelo p0.h, xzr, x13", "no semantics"),
    Change("the first-fault register", _ZERO, "mov x9, xzr\nsetffr", "no semantics"),
    Change("a pattern of a predicate", "ptrue p0.b", "ptrue p0.b, vl16", "no semantics"),
    Change("an index above 15", "and z5.d, z5.d, z0.d", "nop", "may exceed 15"),
    Change("a prefix of a move", _ZERO, "mov x9, xzr\n.inst 0x0420bcb4\nmov z20.b, #0", "movprfx"),
    Change("a prefix of another register", "eor3 z7.d, z7.d, z16.d, z6.d",
           ".inst 0x0420bcb4\neor3 z7.d, z7.d, z16.d, z6.d", "movprfx"),
    Change("a prefix whose register is read", "eor3 z7.d, z7.d, z16.d, z6.d",
           ".inst 0x0420bcc7\neor3 z7.d, z7.d, z16.d, z7.d", "movprfx"),
    Change("a gather", _TAIL, "ptrue p1.d\nld1b { z20.d }, p1/z, [z21.d]", "no semantics"),
)  # fmt: skip

EQUIVALENT = (
    Change("a spill", _ZERO, "mov x9, xzr\naddvl sp, sp, #-2\nstr z0, [sp, #1, mul vl]\nmov z0.b, #0\n"
           "ldr z0, [sp, #1, mul vl]\naddvl sp, sp, #2", ""),
    Change("the upper part of z8", _ZERO, "mov x9, xzr\nstr d8, [sp, #-16]!\nmov z8.b, #1\n"
           "ldr d8, [sp], #16", ""),
    Change("predicates", _ZERO, "mov x9, xzr\nptrue p4.b\npfalse p15.b", ""),
    Change("a loop that never repeats", "b.hs .L7", "nop", ""),
    Change("the length in another way", "rdvl x10, #1", "cnth x10, all, mul #2", ""),
    Change("a prefix", "eor3 z7.d, z7.d, z16.d, z6.d",
           "movprfx z20, z7\neor3 z20.d, z20.d, z16.d, z6.d\nmov z7.d, z20.d", ""),
    Change("sums in another order", "eor3 z7.d, z7.d, z16.d, z6.d", "eor3 z7.d, z7.d, z6.d, z16.d", ""),
    Change("counted otherwise", "addvl x9, x9, #2", "incb x9, all, mul #2", ""),
    Change("x13 - 0 bytes from another number", _TAIL, "whilelo p0.b, x9, x0", ""),
)  # fmt: skip
