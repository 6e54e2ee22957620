"""The semantics of each Op on one lane, in the table MEANING.

The functions need only `^` (addition in GF(2)) and `&` (multiplication in GF(2)) on bits, so the same table
runs a Program on concrete bytes (bits 0 and 1) and on symbolic ones (polynomials).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache
from typing import Any, Protocol, Self

from gfsmith.ir.program import Op


class Undefined(Exception):
    """Operands for which an Op is undefined on some instruction set."""


class Bit(Protocol):
    """An element of a ring of characteristic 2: 0/1 or a polynomial over GF(2)."""

    def __xor__(self, other: Any, /) -> Self: ...
    def __and__(self, other: Any, /) -> Self: ...
    def __bool__(self) -> bool: ...


Byte = tuple[Any, ...]  #: 8 Bits, least significant first
Lane = Any  #: a Byte, or the result of TABLE, MATRIX or COLUMN: a tuple of Bytes


def _zero_like(bit: Any) -> Any:
    return bit ^ bit


def _xor(*bytes_: Byte) -> Byte:
    result = bytes_[0]
    for other in bytes_[1:]:
        result = tuple(x ^ y for x, y in zip(result, other, strict=True))
    return result


def _and(left: Byte, right: Byte) -> Byte:
    return tuple(x & y for x, y in zip(left, right, strict=True))


def _high_nibble(x: Byte, mask: Byte) -> Byte:
    """(x >> 4) & mask. Without a byte-wise shift the mask must clear bits from the neighbouring lane."""
    if any(mask[4:]):
        raise Undefined("HIGH_NIBBLE with a mask above 0x0f")
    zero = _zero_like(x[0])
    return _and((*x[4:], zero, zero, zero, zero), mask)


def _twice(x: Byte) -> Byte:
    return (_zero_like(x[0]), *x[:7])


def _choose(x: Byte, chosen: Byte) -> Byte:
    return tuple(x[7] & bit for bit in chosen)


@lru_cache(maxsize=1 << 10)
def _derivatives(table: tuple[Byte, ...]) -> tuple[tuple[int, Byte], ...]:
    """Return (a set of index bits, its coefficient) of a table's algebraic normal form, without zeros.

    table[index] is the sum of the coefficients of all sets whose bits are 1 in the index (Moebius transform).
    """
    rows = list(table)
    for bit in (1, 2, 4, 8):
        for number in range(16):
            if number & bit:
                rows[number] = _xor(rows[number], rows[number ^ bit])
    return tuple((number, row) for number, row in enumerate(rows) if any(row))


def _lookup(table: Sequence[Byte], index: Byte) -> Byte:
    """table[index] for index < 16, as a polynomial in the bits of the index."""
    if any(index[4:]):
        raise Undefined("LOOKUP with an index that may exceed 15")
    total = (_zero_like(index[0]),) * 8
    for bits, coefficient in _derivatives(tuple(table)):
        for bit in range(4):
            if bits >> bit & 1:
                coefficient = tuple(index[bit] & each for each in coefficient)
        total = _xor(total, coefficient)
    return total


def _lookup_low(table: Sequence[Byte], x: Byte) -> Byte:
    """Look up the lower nibble. z/Architecture's vperm selects from 32 bytes by five bits of the index; with
    the same 16 bytes twice only four bits count."""
    return _lookup(table, (*x[:4], *(_zero_like(x[0]),) * 4))


def _lookup2(low: Sequence[Byte], high: Sequence[Byte], x: Byte) -> Byte:
    """Look up both nibbles of one byte, each in its own table (Power ISA 2.07, vpermxor).

    The instruction counts elements from the left of a register; lxvd2x, little endian, loads byte n of memory
    into element n ^ 7.
    """
    zero = (_zero_like(x[0]),) * 4
    left, right = ([table[n ^ 7] for n in range(16)] for table in (low, high))
    return _xor(_lookup(left, (*x[:4], *zero)), _lookup(right, (*x[4:], *zero)))


def _affine(x: Byte, matrix: Sequence[Byte]) -> Byte:
    """Bit i of the result is the parity of byte 7-i of the matrix AND x (Intel SDM, GF2P8AFFINEQB)."""
    result = []
    for i in range(8):
        row = matrix[7 - i]
        total = row[0] & x[0]
        for m, b in zip(row[1:], x[1:], strict=True):
            total = total ^ (m & b)
        result.append(total)
    return tuple(result)


def _mulb(x: Byte, entry: Sequence[Byte]) -> Byte:
    """The product modulo a^8 + a^4 + a^3 + a + 1 (Intel SDM, GF2P8MULB)."""
    y = entry[0]
    if any(e is not y and any(bool(p ^ q) for p, q in zip(e, y, strict=True)) for e in entry):
        raise Undefined("MULB with a coefficient that is not the same in all lanes")
    product = [_zero_like(x[0])] * 15
    for i, xb in enumerate(x):
        for j, yb in enumerate(y):
            product[i + j] = product[i + j] ^ (xb & yb)
    for degree in range(14, 7, -1):
        for shift in (0, 1, 3, 4):
            product[degree - 8 + shift] = product[degree - 8 + shift] ^ product[degree]
    return tuple(product[:8])


def _scale(flag: Byte, column: Byte) -> Byte:
    if any(flag[1:]):
        raise Undefined("SCALE of a lane that is neither 0 nor 1")
    return tuple(flag[0] & bit for bit in column)


def _bit(x: Byte, position: int) -> Byte:
    zero = _zero_like(x[0])
    return (x[position], zero, zero, zero, zero, zero, zero, zero)


class Kind(Enum):
    """The content of a value in one lane: a byte, or a table that all lanes share."""

    BYTE = auto()
    TABLE = auto()
    MATRIX = auto()


_BYTE, _BYTES, _BYTES3 = (Kind.BYTE,), (Kind.BYTE,) * 2, (Kind.BYTE,) * 3


@dataclass(frozen=True, slots=True)
class Meaning:
    """The semantics of an Op on one lane. operands: the kinds of its vector operands. If a load has been
    folded into the instruction, the value loaded from `ref` is the last operand."""

    text: str
    operands: tuple[Kind, ...]
    lane: Callable[..., Byte] | None = None
    result: Kind | None = Kind.BYTE


MEANING: dict[Op, Meaning] = {
    Op.ZERO: Meaning("0", ()),
    Op.CONST: Meaning("the byte `immediate` in every lane", ()),
    Op.LOAD: Meaning("bytes of a source or destination shard", ()),
    Op.TABLE: Meaning("16 bytes, repeated in every 16-byte group of lanes", (), None, Kind.TABLE),
    Op.MATRIX: Meaning("8 bytes, repeated in every 8-byte group of lanes", (), None, Kind.MATRIX),
    Op.COLUMN: Meaning("1 table byte in every lane", ()),
    Op.XOR: Meaning("a ^ b", _BYTES, _xor),
    Op.XOR3: Meaning("a ^ b ^ c", _BYTES3, _xor),
    Op.AND: Meaning("a & b", _BYTES, _and),
    Op.HIGH_NIBBLE: Meaning("(a >> 4) & mask, mask <= 0x0f", _BYTES, _high_nibble),
    Op.TWICE: Meaning("(a << 1) & 0xff", _BYTE, _twice),
    Op.CHOOSE: Meaning("the constant b where bit 7 of a is set, else 0", _BYTES, _choose),
    Op.BIT: Meaning("(a >> immediate) & 1", _BYTE, _bit),
    Op.LOOKUP: Meaning("table[index], index < 16", (Kind.TABLE, Kind.BYTE), _lookup),
    Op.LOOKUP_LOW: Meaning("table[a & 15]", (Kind.TABLE, Kind.BYTE), _lookup_low),
    Op.LOOKUP2: Meaning("low[a & 15 ^ 7] ^ high[a >> 4 ^ 7]", (Kind.TABLE, Kind.TABLE, Kind.BYTE), _lookup2),
    Op.AFFINE: Meaning("8 x 8 bit matrix times a", (Kind.BYTE, Kind.MATRIX), _affine),
    Op.MULB: Meaning("a * c in GF(2^8) modulo 0x11b", (Kind.BYTE, Kind.MATRIX), _mulb),
    Op.SCALE: Meaning("a * c as integers, a in {0, 1}", _BYTES, _scale),
    Op.STORE: Meaning("a to a destination shard", _BYTE, None, None),
    Op.STREAM: Meaning("a to a destination shard, around the cache", _BYTE, None, None),
    Op.SPILL: Meaning("a to a slot of the frame", _BYTE, None, None),
    Op.RELOAD: Meaning("the last value that this iteration stored to a slot of the frame", ()),
    Op.PREFETCH: Meaning("no effect except on caches", (), None, None),
}
