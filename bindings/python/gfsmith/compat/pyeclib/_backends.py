"""The backends of liberasurecode: numbers, versions, alignments, and matrices.

docs/codes.md describes the matrices of ISA-L and Jerasure. liberasurecode_rs_vand is the lower rows of
V V[:k]^-1, V[i][j] = i^j in GF(2^16), with the columns scaled to a first row of 1. jerasure_rs_vand is
Jerasure's reed_sol_van in GF(2^16), and jerasure_rs_cauchy its cauchy_orig in GF(2^4), in packets.
flat_xor_hd has XORs of some data fragments: K. Greenan, X. Li, J. Wylie, "Flat XOR-based erasure codes in
storage systems", MSST 2010.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from gfsmith.codec.construction import POLYNOMIAL
from gfsmith.compat.field import Field, field_of
from gfsmith.compat.pyeclib._codes import PACKET, Bytes, Code, Matrix, Packets, Words, Xors

MOST_FRAGMENTS = 32  #: k + m

_NIBBLES, _WORDS = 0x13, 0x1100B  #: the polynomials of GF(2^4) and GF(2^16)


@dataclass(frozen=True)
class Backend:
    """A backend. unit: payloads are multiples of this number of bytes.

    code: makes a code from k, m and the Hamming distance; LookupError: there is none of this shape.
    """

    number: int
    name: str
    version: int
    unit: int
    code: Callable[[int, int, int], Code]

    def size(self, k: int, length: int) -> int:
        """Return the bytes of a payload for `length` bytes of data."""
        return -(-length // (k * self.unit)) * self.unit


def _isa_l_rs_vand(k: int, m: int, _: int) -> Code:
    powers = field_of(POLYNOMIAL).powers
    return Bytes([[powers[i * j % 255] for j in range(k)] for i in range(m)])


def _isa_l_rs_cauchy(k: int, m: int, _: int) -> Code:
    return Bytes(_cauchy(field_of(POLYNOMIAL), range(k, k + m), range(k)))


def _jerasure_rs_cauchy(k: int, m: int, _: int) -> Code:
    field = field_of(_NIBBLES)
    if k + m > field.order + 1:
        raise LookupError("more fragments than elements of the field")
    return Packets(field, _cauchy(field, range(m), range(m, m + k)))


def _jerasure_rs_vand(k: int, m: int, _: int) -> Code:
    field = field_of(_WORDS)
    rows = _columns_scaled(field, [*_values(field, k, range(k, k + m - 1)), _leading(field, k)])
    return Words(_WORDS, field, [[field.quotient(e, row[0]) for e in row] for row in rows])


def _liberasurecode_rs_vand(k: int, m: int, _: int) -> Code:
    field = field_of(_WORDS)
    return Words(_WORDS, field, _columns_scaled(field, _values(field, k, range(k, k + m))))


#: Parities of flat_xor_hd: bit j is set for data fragment j. Distance, least k, most k -> the parities.
_XORS = {
    (3, 3, 3): (0x5, 0x6, 0x3),
    (3, 5, 10): (0xA3, 0x12C, 0x151, 0x246, 0x298),
    (3, 6, 15): (0x1243, 0x2470, 0x42A4, 0x1898, 0x4509, 0x2906),
    (4, 5, 10): (0x167, 0x1B9, 0x2AE, 0x2D3, 0x35C),
    (4, 12, 12): (0x671, 0xCA3, 0x947, 0x2CE, 0x59C, 0xB38),
    (4, 6, 20): (0x55547, 0xA9578, 0x56A78, 0xA698B, 0x9A695, 0x69AA6),
}


def _flat_xor_hd(k: int, m: int, distance: int) -> Code:
    for (known, least, most), parities in _XORS.items():
        if known == distance and least <= k <= most and len(parities) == m:
            return Xors([[parity >> j & 1 for j in range(k)] for parity in parities])
    raise LookupError("no such shape")


@lru_cache(maxsize=32)
def code_of(backend: Backend, k: int, m: int, distance: int) -> Code:
    """Return a backend's code at a shape, once."""
    return backend.code(k, m, distance)


def _cauchy(field: Field, xs: range, ys: range) -> Matrix:
    return [[field.quotient(1, x ^ y) for y in ys] for x in xs]


def _values(field: Field, k: int, points: range) -> Matrix:
    """Return the values at the points of polynomials, each 1 at one of 0 .. k - 1 and 0 at the others."""
    log, power, order = field.logarithms, field.powers, field.order
    rows = []
    for x in points:
        every = sum(log[x ^ other] for other in range(k))
        rows.append(
            [power[(every - log[x ^ i] + log[lead]) % order] for i, lead in enumerate(_leading(field, k))]
        )
    return rows


def _leading(field: Field, k: int) -> list[int]:
    """Return the leading coefficients of these polynomials."""
    log, power, order = field.logarithms, field.powers, field.order
    return [power[-sum(log[i ^ other] for other in range(k) if other != i) % order] for i in range(k)]


def _columns_scaled(field: Field, rows: Matrix) -> Matrix:
    """Return the matrix with columns scaled to a first row of 1."""
    return [[field.quotient(e, first) for e, first in zip(row, rows[0], strict=True)] for row in rows]


BACKENDS = {
    backend.number: backend
    for backend in (
        Backend(1, "jerasure_rs_vand", 0x020000, 2, _jerasure_rs_vand),
        Backend(2, "jerasure_rs_cauchy", 0x020000, 4 * PACKET, _jerasure_rs_cauchy),
        Backend(3, "flat_xor_hd", 0x010000, 4, _flat_xor_hd),
        Backend(4, "isa_l_rs_vand", 0x020D00, 1, _isa_l_rs_vand),
        Backend(6, "liberasurecode_rs_vand", 0x010000, 2, _liberasurecode_rs_vand),
        Backend(7, "isa_l_rs_cauchy", 0x020E01, 1, _isa_l_rs_cauchy),
    )
}
