"""Multiplication with POWER8's vpermxor: c * x = low[x & 15] ^ high[x >> 4] in one instruction.

TableFormat.PERMXOR stores the tables so that a plain load puts each byte at the position that the instruction
reads. No bytes need swapping and no indices need complementing.

Source of the method: P. Anvin's nibble tables, combined into one lookup by "Power Erasure Coding for
programmers" (../shared/papers); Power ISA 2.07, vpermxor.
"""

from __future__ import annotations

from collections.abc import Iterator

from gfsmith.ir import Op, Value
from gfsmith.lower.builder import Builder


class Permxor:
    def constants(self, b: Builder) -> tuple[Value, ...]:
        return ()

    def split(self, b: Builder, x: Value, constants: tuple[Value, ...]) -> tuple[Value, ...]:
        return (x,)

    def terms(self, b: Builder, parts: tuple[Value, ...], source: int, output: int) -> Iterator[Value]:
        low = b.entry(Op.TABLE, source, output)
        high = b.entry(Op.TABLE, source, output, 16)
        yield b.emit(Op.LOOKUP2, low, high, parts[0])
