"""Coefficient tables as bytes, in the layouts that kernels read.

A coefficient is a linear map of bytes, given as a bit matrix: that of x -> c * x in GF(2^8), or a part of a
product in a field of another width (field/width.py). Only MULB multiplies by c itself.

The entry of source j and output i of an r x k matrix starts at byte (j * r + i) * E, of a format by rows at
(i * k + j) * E.
"""

from __future__ import annotations

from collections.abc import Sequence

from gfsmith.field import BitMatrix, Field, apply
from gfsmith.field.matrix import Matrix
from gfsmith.field.width import WidthField, byte_maps
from gfsmith.kernel.spec import TableFormat


def nibble(matrix: BitMatrix) -> bytes:
    """Return 32 bytes: M n for n = 0..15, then M (n << 4); M x is low[x & 15] ^ high[x >> 4]."""
    return bytes([*(apply(matrix, n) for n in range(16)), *(apply(matrix, n << 4) for n in range(16))])


def permxor(matrix: BitMatrix) -> bytes:
    """Return the 32 bytes of `nibble` with byte n of either table at n ^ 7.

    There POWER's lxvd2x, little endian, finds element n of a register, so no kernel has to reverse bytes."""
    table = nibble(matrix)
    return bytes(table[n ^ 7] for n in range(32))


def affine(matrix: BitMatrix) -> bytes:
    """Return 8 bytes: row i in byte 7-i, the layout of gf2p8affineqb."""
    return bytes(reversed(matrix))


def bitplane(matrix: BitMatrix) -> bytes:
    """Return 8 bytes: M 2^b in byte b."""
    return bytes(apply(matrix, 1 << b) for b in range(8))


def isal(matrix: BitMatrix) -> bytes:
    """Return 32 bytes: four times those of `affine`, as ISA-L 2.31 and later keeps them."""
    return affine(matrix) * 4


def map_entry(fmt: TableFormat, matrix: BitMatrix) -> bytes:
    """Return the entry of one linear map of bytes in a format. Raises ValueError for MULB, whose entries are
    elements of its field."""
    match fmt:
        case TableFormat.NIBBLE | TableFormat.ISAL_NIBBLE:
            return nibble(matrix)
        case TableFormat.PERMXOR:
            return permxor(matrix)
        case TableFormat.AFFINE:
            return affine(matrix)
        case TableFormat.ISAL:
            return isal(matrix)
        case TableFormat.BITPLANE:
            return bitplane(matrix)
        case TableFormat.MULB:
            raise ValueError("mulb multiplies by elements of its field only; allowed: other formats")
        case TableFormat.NONE:
            return b""


def entry(field: Field, fmt: TableFormat, constant: int) -> bytes:
    """Return the entry of one coefficient in a format."""
    if fmt is TableFormat.MULB:
        return bytes([constant]) * 8
    return map_entry(fmt, field.matrix(constant))


def table(field: Field, fmt: TableFormat, matrix: Matrix) -> bytes:
    """Return the table of an r x k matrix: source by source or row by row."""
    order = matrix if fmt.stands_by_rows else zip(*matrix, strict=True)
    return b"".join(entry(field, fmt, c) for line in order for c in line)


def width_table(field: WidthField, fmt: TableFormat, matrix: Sequence[Sequence[int]]) -> bytes:
    """Return the table of an r x k matrix over GF(2^4), GF(2^8) or GF(2^16). The kernel's sources and outputs
    are byte planes: k and r of them, for GF(2^16) 2k and 2r, low and high of each shard in turn."""
    maps = byte_maps(field, matrix)
    return b"".join(map_entry(fmt, map_) for column in zip(*maps, strict=True) for map_ in column)
