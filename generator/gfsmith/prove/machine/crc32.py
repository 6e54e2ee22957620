"""The crc32 instructions of x86 and AArch64 on bytes: exact, because they are linear over GF(2).

A register of 32 bits takes one byte after the other: its lowest byte plus the byte of data leaves it, and is
replaced by that byte times x^32 modulo the polynomial, with all bits in reversed order (Intel SDM, volume 2A,
CRC32; Arm ARM, CRC32B).
"""

from __future__ import annotations

from functools import cache

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.domain import Form, Runs, Table, Unsupported

CRC32C, CRC32 = 0x82F63B78, 0xEDB88320  #: the polynomials without their highest terms, bits reversed
BYTES = 4  #: of a register


@cache
def _replacement(polynomial: int, place: int) -> int:
    """Return the matrix of the summand of byte `place` of the register, for the byte that leaves it."""
    columns = []
    for bit in range(8):
        value = 1 << bit
        for _ in range(8):
            value = value >> 1 ^ (polynomial if value & 1 else 0)
        columns.append(value >> 8 * place & 0xFF)
    rows = [sum((column >> row & 1) << n for n, column in enumerate(columns)) for row in range(8)]
    return sum(row << 8 * n for n, row in enumerate(rows))


def crc32(polynomial: int, register: Runs, data: Runs) -> Runs:
    """Return the register of four bytes after some bytes."""
    for place in range(domain.size(data)):
        ((_, leaving),) = domain.xor(domain.cut(register, 0, 1), domain.cut(data, place, place + 1))
        parts = [domain.map_matrix(_replacement(polynomial, n), _form(leaving)) for n in range(BYTES)]
        rest = (*domain.cut(register, 1, BYTES), *domain.zeros(1))
        register = domain.xor(domain.merge(list(rest)), tuple((1, part) for part in parts))
    return register


def _form(piece: domain.Piece) -> Form:
    if isinstance(piece, Table):
        raise Unsupported("a checksum of raw table bytes")
    return piece
