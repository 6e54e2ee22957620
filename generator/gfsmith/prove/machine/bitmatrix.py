"""8 x 8 matrices over GF(2) as integers: byte r is row r, bit i of it the coefficient of input bit i."""

from __future__ import annotations

from functools import lru_cache


def _rows(rows: list[int]) -> int:
    return sum(row << 8 * n for n, row in enumerate(rows))


IDENTITY = _rows([1 << n for n in range(8)])
LOW_NIBBLE = _rows([1 << n for n in range(4)])
HIGH_NIBBLE = _rows([1 << n + 4 for n in range(4)])


@lru_cache(maxsize=1 << 16)
def compose(outer: int, inner: int) -> int:
    """Return the matrix product: row r of the result is the sum of the rows of `inner` that row r selects."""
    result = 0
    for r in range(8):
        select = outer >> 8 * r & 0xFF
        row = 0
        for i in range(8):
            if select >> i & 1:
                row ^= inner >> 8 * i & 0xFF
        result |= row << 8 * r
    return result


def apply(matrix: int, byte: int) -> int:
    """Return the product of a matrix and a byte."""
    return sum(((matrix >> 8 * r & byte & 0xFF).bit_count() & 1) << r for r in range(8))


@lru_cache(maxsize=256)
def row_mask(byte: int) -> int:
    """Return the matrix with 0xff in row r for every bit r of `byte`: AND with a constant, applied to a
    matrix."""
    return sum(0xFF << 8 * r for r in range(8) if byte >> r & 1)
