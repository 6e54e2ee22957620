"""Multiplication by nibble tables: c * x = low[x & 15] ^ high[x >> 4], two 16-byte tables and a byte shuffle.

Source of the method: H. P. Anvin, "The mathematics of RAID-6"; Plank, Greenan, Miller, "Screaming fast
Galois field arithmetic using Intel SIMD instructions", FAST 2013.
"""

from __future__ import annotations

from collections.abc import Iterator

from gfsmith.ir import Op, Value
from gfsmith.lower.builder import Builder


class Nibble:
    def constants(self, b: Builder) -> tuple[Value, ...]:
        return (b.emit(Op.CONST, immediate=0x0F),)

    def split(self, b: Builder, x: Value, constants: tuple[Value, ...]) -> tuple[Value, ...]:
        (mask,) = constants
        high = b.emit(Op.HIGH_NIBBLE, x, mask)
        low = b.emit(Op.AND, x, mask)
        return low, high

    def terms(self, b: Builder, parts: tuple[Value, ...], source: int, output: int) -> Iterator[Value]:
        for half, index in enumerate(parts):
            table = b.entry(Op.TABLE, source, output, 16 * half)
            yield b.emit(Op.LOOKUP, table, index)
