"""Ways to multiply a vector of bytes by a constant, and their tables.

SHIFT multiplies by the constant 2 only: it shifts the byte and adds the polynomial if bit 7 was set.
ISAL_NIBBLE is NIBBLE and ISAL is AFFINE with ISA-L's tables.
"""

from __future__ import annotations

from enum import Enum

from gfsmith.ir import Op


class Technique(Enum):
    """A way to multiply a byte vector by a constant."""

    NIBBLE = "nibble"
    ISAL_NIBBLE = "isal_nibble"
    PERMXOR = "permxor"
    AFFINE = "affine"
    ISAL = "isal"
    MULB = "mulb"
    BITPLANE = "bitplane"
    SHIFT = "shift"
    PLAIN = "plain"


class TableFormat(Enum):
    """The layout of one coefficient in the table argument; the value is its size in bytes.

    NIBBLE: c * n, then c * (n << 4), for n = 0..15. PERMXOR: the same with n at place n ^ 7.
    AFFINE: byte 7-i is row i of the bit matrix of c. BITPLANE: byte b is c * 2^b. MULB: c eight times.
    ISAL: AFFINE four times. ISAL_NIBBLE: as NIBBLE. Only in these two formats entries stand row by row, k in
    each; in all others source by source. NONE: no table is read.
    """

    NIBBLE = ("nibble", 32)
    ISAL_NIBBLE = ("isal_nibble", 32)
    PERMXOR = ("permxor", 32)
    AFFINE = ("affine", 8)
    ISAL = ("isal", 32)
    BITPLANE = ("bitplane", 8)
    MULB = ("mulb", 8)
    NONE = ("none", 0)

    @property
    def label(self) -> str:
        return self.value[0]

    @property
    def entry_bytes(self) -> int:
        return self.value[1]

    @property
    def stands_by_rows(self) -> bool:
        return self in (TableFormat.ISAL, TableFormat.ISAL_NIBBLE)


#: Format of the coefficients, in the table argument or among the constants of a kernel for a known matrix.
FORMAT = {
    Technique.NIBBLE: TableFormat.NIBBLE,
    Technique.ISAL_NIBBLE: TableFormat.ISAL_NIBBLE,
    Technique.PERMXOR: TableFormat.PERMXOR,
    Technique.AFFINE: TableFormat.AFFINE,
    Technique.ISAL: TableFormat.ISAL,
    Technique.MULB: TableFormat.MULB,
    Technique.BITPLANE: TableFormat.BITPLANE,
    Technique.SHIFT: TableFormat.NONE,
    Technique.PLAIN: TableFormat.NONE,
}

#: The Op that an instruction set must have for the technique.
NEEDS = {
    Technique.NIBBLE: Op.LOOKUP,
    Technique.ISAL_NIBBLE: Op.LOOKUP,
    Technique.PERMXOR: Op.LOOKUP2,
    Technique.AFFINE: Op.AFFINE,
    Technique.ISAL: Op.AFFINE,
    Technique.MULB: Op.MULB,
    Technique.BITPLANE: Op.SCALE,
    Technique.SHIFT: Op.CHOOSE,
    Technique.PLAIN: Op.XOR,
}
