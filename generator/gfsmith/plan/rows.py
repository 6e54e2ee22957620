"""Rows of coefficients, one byte for each shard, as the planner handles them."""

from __future__ import annotations

from functools import lru_cache

from gfsmith.field import ORDER, Field

Row = bytes


@lru_cache(maxsize=8)
def _products(polynomial: int) -> tuple[bytes, ...]:
    """For every factor its products with all elements, as bytes.translate takes them."""
    field = Field(polynomial)
    return tuple(bytes(field.multiply(f, x) for x in range(ORDER)) for f in range(ORDER))


class Arithmetic:
    """Sums and multiples of rows over a field."""

    def __init__(self, field: Field) -> None:
        self.field = field
        self._table = _products(field.polynomial)

    def scale(self, row: Row, factor: int) -> Row:
        return row.translate(self._table[factor])

    def add_multiple(self, row: Row, other: Row, factor: int) -> Row:
        """row + factor * other"""
        if factor == 0:
            return row
        total = int.from_bytes(row, "big") ^ int.from_bytes(other.translate(self._table[factor]), "big")
        return total.to_bytes(len(row), "big")

    def clear(self, row: Row, by: Row, column: int) -> Row:
        """The row plus that multiple of `by` which makes it 0 in the column; `by` is not 0 there."""
        factor = self.field.multiply(row[column], self.field.inverse(by[column]))
        return self.add_multiple(row, by, factor)
