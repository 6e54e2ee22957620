"""The code of zfec for all its shapes: up to 256 blocks, of which any k determine the others.

Block i has the values of a polynomial of degree < k at the point x[i]: x[0] = 0, x[i] = 2^(i-1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

from gfsmith.codec import _native
from gfsmith.codec.codec import Codec
from gfsmith.codec.construction import MAX_SHARDS, POLYNOMIAL
from gfsmith.compat.field import field_of

MOST_BLOCKS = 256

#: Columns and rows of a part of a matrix with 256 blocks; their sum is the most shards of a codec.
_COLUMNS, _ROWS = 128, 127


#: Exceptions of native calls for arguments for which zfec has messages of its own.
_REFUSED = (TypeError, BufferError, ValueError)


class Code(Protocol):
    """A code with a fixed number k of blocks that determine the others."""

    def secondary(self, primary: tuple[Any, ...]) -> list[bytes] | None:
        """Compute all other blocks from the first k; None if they, or the code, need checks first."""

    def primary(self, given: tuple[Any, ...], numbers: tuple[Any, ...]) -> list[Any] | None:
        """Return the first k blocks, of which given ones are the same objects, from k blocks with their
        numbers; None as above.
        """

    def blocks(self, known: Mapping[int, bytes | memoryview], wanted: Sequence[int]) -> dict[int, bytes]:
        """Compute the wanted blocks from k known ones of equal length, all by number."""


def of_shape(k: int, n: int) -> Code:
    """Return the code of n blocks, k <= n <= 256."""
    return _Codec(k, n) if k < n <= MAX_SHARDS else _Points()


class _Codec:
    def __init__(self, k: int, n: int) -> None:
        self._codec = Codec("zfec", k, n - k)

    def secondary(self, primary: tuple[Any, ...]) -> list[bytes] | None:
        try:
            return _native.encoded(self._codec._handle, primary)
        except _REFUSED:
            return None

    def primary(self, given: tuple[Any, ...], numbers: tuple[Any, ...]) -> list[Any] | None:
        try:
            return _native.data_of(self._codec._handle, given, numbers)
        except _REFUSED:
            return None

    def blocks(self, known: Mapping[int, bytes | memoryview], wanted: Sequence[int]) -> dict[int, bytes]:
        codec = self._codec
        if len(wanted) == codec.m and all(number in known for number in range(codec.k)):
            parities = codec.encode([known[number] for number in range(codec.k)])
            return {codec.k + i: bytes(parity) for i, parity in enumerate(parities)}
        shards = [known.get(number) for number in range(codec.n)]
        rebuilt = codec.reconstruct(shards, wanted=codec.only(*wanted))
        return {number: bytes(rebuilt[number]) for number in wanted}  # type: ignore[arg-type]


class _Points:
    """A code with more blocks than a codec has, or with no other blocks than the k known ones."""

    def secondary(self, primary: tuple[Any, ...]) -> None:
        return None

    def primary(self, given: tuple[Any, ...], numbers: tuple[Any, ...]) -> None:
        return None

    def blocks(self, known: Mapping[int, bytes | memoryview], wanted: Sequence[int]) -> dict[int, bytes]:
        sources = list(known.values())
        made = [bytearray(len(sources[0])) for _ in wanted]
        for part, top, left in _parts(tuple(known), tuple(wanted)):
            part.update_many(range(part.k), sources[left : left + part.k], made[top : top + part.m])
        return dict(zip(wanted, map(bytes, made), strict=True))


@lru_cache(maxsize=16)
def _parts(have: tuple[int, ...], wanted: tuple[int, ...]) -> list[tuple[Codec, int, int]]:
    """Return codecs for the parts of the matrix, each with its first row and column."""
    rows = _matrix(have, wanted)
    return [
        (Codec.from_matrix([row[left : left + _COLUMNS] for row in rows[top : top + _ROWS]]), top, left)
        for top in range(0, len(wanted), _ROWS)
        for left in range(0, len(have), _COLUMNS)
    ]


def _matrix(have: tuple[int, ...], wanted: tuple[int, ...]) -> list[bytes]:
    """Return Lagrange's coefficients: a row for each wanted block, a column for each known one.

    Row x, column i: product over l != i of (x - x[l]) / (x[i] - x[l]). No wanted block is known.
    """
    field = field_of(POLYNOMIAL)
    powers, logarithms = field.powers, field.logarithms
    points = [0, *powers]
    known = [points[number] for number in have]
    weights = [sum(logarithms[x ^ other] for other in known if other != x) for x in known]
    rows = []
    for x in (points[number] for number in wanted):
        all_points = sum(logarithms[x ^ other] for other in known)
        exponents = (
            all_points - logarithms[x ^ other] - weight for other, weight in zip(known, weights, strict=True)
        )
        rows.append(bytes(powers[exponent % 255] for exponent in exponents))
    return rows
