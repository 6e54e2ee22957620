"""Bit flips in table entries: each flipped bit must give a wrong product for some byte.

The machine-code proof takes a coefficient's entry from the prover's model (prove/program/model.py).
This module runs that entry through the instructions' semantics for all 256 bytes and compares the results
with the field's multiplication: they must be equal for the unchanged entry, and different with any one bit
flipped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from gfsmith.field import Field
from gfsmith.kernel.spec import MULB_POLYNOMIAL, TableFormat
from gfsmith.prove.program.model import Coefficient, entry

CONSTANTS = (0x00, 0x01, 0x02, 0x53, 0x8E, 0xFF)
FIELDS = {
    TableFormat.NIBBLE: (Field(0x11D), Field(0x11B)),
    TableFormat.PERMXOR: (Field(0x11D), Field(0x11B)),
    TableFormat.AFFINE: (Field(0x11D), Field(0x11B)),
    TableFormat.MULB: (Field(MULB_POLYNOMIAL),),
}


@dataclass(frozen=True, slots=True)
class Flip:
    """One flipped bit of one entry. caught: the flip changes a product."""

    format: str
    polynomial: int
    constant: int
    bit: int
    caught: bool


def flips() -> list[Flip]:
    """Return the flips of every bit of every sampled entry. Raises ValueError if an unchanged entry is
    wrong."""
    out = []
    for fmt, fields in FIELDS.items():
        for field in fields:
            for constant in CONSTANTS:
                out += _entry_flips(fmt, field, constant)
    return out


def _entry_flips(fmt: TableFormat, field: Field, constant: int) -> list[Flip]:
    right = assumed(field, fmt, constant)
    if not _multiplies(fmt, field, constant, right):
        raise ValueError(f"the entry of {constant:#x} in format {fmt.label} does not multiply")
    out = []
    for bit in range(8 * len(right)):
        wrong = bytearray(right)
        wrong[bit // 8] ^= 1 << bit % 8
        caught = not _multiplies(fmt, field, constant, bytes(wrong))
        out.append(Flip(fmt.label, field.polynomial, constant, bit, caught))
    return out


def assumed(field: Field, fmt: TableFormat, constant: int) -> bytes:
    """Return the entry that the prover assumes for a constant."""
    ones = {(Coefficient(0, 0), bit) for bit in range(8) if constant >> bit & 1}
    for number, row in enumerate(field.matrix(constant)):
        ones |= {(Coefficient(0, 0, number), bit) for bit in range(8) if row >> bit & 1}
    return bytes(sum(poly.value(ones) << bit for bit, poly in enumerate(byte)) for byte in entry(fmt, 0, 0))


def _multiplies(fmt: TableFormat, field: Field, constant: int, table: bytes) -> bool:
    """Return whether the instructions give constant * x at each position that uses other table bytes."""
    use, positions = _USES[fmt]
    return all(
        use(field, table, x, position) == product
        for x, product in enumerate(_products(field, constant))
        for position in range(positions)
    )


@lru_cache(maxsize=64)
def _products(field: Field, constant: int) -> tuple[int, ...]:
    return tuple(field.multiply(constant, x) for x in range(256))


def _lookup(field: Field, table: bytes, x: int, position: int) -> int:
    """Look x up with pshufb in the low and in the high table."""
    return table[x & 15] ^ table[16 + (x >> 4)]


def _permxor(field: Field, table: bytes, x: int, position: int) -> int:
    """Look x up with vpermxor in tables loaded by lxvd2x, little endian: byte n of memory is element n ^
    7."""
    return table[(x & 15) ^ 7] ^ table[16 + ((x >> 4) ^ 7)]


def _affine(field: Field, table: bytes, x: int, position: int) -> int:
    """Multiply with gf2p8affineqb: bit i of the result is the parity of x and byte 7 - i (Intel SDM)."""
    return sum(((table[7 - i] & x).bit_count() & 1) << i for i in range(8))


def _product(field: Field, table: bytes, x: int, position: int) -> int:
    """Multiply with gf2p8mulb, byte by byte."""
    return field.multiply(table[position], x)


#: Format -> the computation with an entry, and the number of byte positions that use different bytes of it.
_USES: dict[TableFormat, tuple[Callable[[Field, bytes, int, int], int], int]] = {
    TableFormat.NIBBLE: (_lookup, 1),
    TableFormat.PERMXOR: (_permxor, 1),
    TableFormat.AFFINE: (_affine, 1),
    TableFormat.MULB: (_product, 8),
}
