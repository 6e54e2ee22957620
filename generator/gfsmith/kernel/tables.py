"""Coefficient tables as bytes, in the layouts that kernels read.

The entry of source j and output i of an r x k matrix starts at byte (j * r + i) * E.
"""

from __future__ import annotations

from gfsmith.field import Field
from gfsmith.field.matrix import Matrix
from gfsmith.kernel.spec import TableFormat


def nibble(field: Field, constant: int) -> bytes:
    """Return 32 bytes: c * n for n = 0..15, then c * (n << 4); c * x is low[x & 15] ^ high[x >> 4]."""
    low = [field.multiply(constant, n) for n in range(16)]
    high = [field.multiply(constant, n << 4) for n in range(16)]
    return bytes(low + high)


def permxor(field: Field, constant: int) -> bytes:
    """Return the 32 bytes of `nibble` with byte n of either table at n ^ 7.

    There POWER's lxvd2x, little endian, finds element n of a register, so no kernel has to reverse bytes."""
    table = nibble(field, constant)
    return bytes(table[n ^ 7] for n in range(32))


def affine(field: Field, constant: int) -> bytes:
    """Return 8 bytes: row i of the bit matrix of x -> c * x in byte 7-i, the layout of gf2p8affineqb."""
    return bytes(reversed(field.matrix(constant)))


def bitplane(field: Field, constant: int) -> bytes:
    """Return 8 bytes: c * 2^b in byte b."""
    return bytes(field.multiply(constant, 1 << b) for b in range(8))


def entry(field: Field, fmt: TableFormat, constant: int) -> bytes:
    """Return the entry of one coefficient in a format."""
    match fmt:
        case TableFormat.NIBBLE:
            return nibble(field, constant)
        case TableFormat.PERMXOR:
            return permxor(field, constant)
        case TableFormat.AFFINE:
            return affine(field, constant)
        case TableFormat.BITPLANE:
            return bitplane(field, constant)
        case TableFormat.MULB:
            return bytes([constant]) * 8
        case TableFormat.NONE:
            return b""


def table(field: Field, fmt: TableFormat, matrix: Matrix) -> bytes:
    """Return the table of an r x k matrix, source by source."""
    return b"".join(entry(field, fmt, c) for column in zip(*matrix, strict=True) for c in column)
