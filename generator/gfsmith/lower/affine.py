"""Multiplication by an 8 x 8 bit matrix: c * x is one GFNI instruction.

Source: Drucker, Gueron, Krasnov, "The comeback of Reed Solomon codes", section III.
"""

from __future__ import annotations

from collections.abc import Iterator

from gfsmith.ir import Op, Value
from gfsmith.lower.builder import Builder


class Affine:
    """Also used for MULB, whose table entry is eight bytes as well: the repeated coefficient."""

    def __init__(self, op: Op) -> None:
        self._op = op

    def constants(self, b: Builder) -> tuple[Value, ...]:
        return ()

    def split(self, b: Builder, x: Value, constants: tuple[Value, ...]) -> tuple[Value, ...]:
        return (x,)

    def terms(self, b: Builder, parts: tuple[Value, ...], source: int, output: int) -> Iterator[Value]:
        matrix = b.entry(Op.MATRIX, source, output)
        yield b.emit(self._op, parts[0], matrix)
