"""Multiplication by bit planes: c * x = sum over b of x_b * (c * 2^b), computed in ordinary words.

Each lane of (x >> b) & 1 is 0 or 1, so an integer multiplication by the byte c * 2^b cannot carry from
one lane into the next. No table is indexed by data, so the portable kernels run in constant time too.
"""

from __future__ import annotations

from collections.abc import Iterator

from gfsmith.ir import Op, Value
from gfsmith.lower.builder import Builder


class Bitplane:
    def constants(self, b: Builder) -> tuple[Value, ...]:
        return ()

    def split(self, b: Builder, x: Value, constants: tuple[Value, ...]) -> tuple[Value, ...]:
        return tuple(b.emit(Op.BIT, x, immediate=position) for position in range(8))

    def terms(self, b: Builder, parts: tuple[Value, ...], source: int, output: int) -> Iterator[Value]:
        for position, plane in enumerate(parts):
            column = b.entry(Op.COLUMN, source, output, position)
            yield b.emit(Op.SCALE, plane, column)
