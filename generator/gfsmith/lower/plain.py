"""Multiplication by 1: the products are the sources."""

from __future__ import annotations

from collections.abc import Iterator

from gfsmith.ir import Value
from gfsmith.lower.builder import Builder


class Plain:
    def constants(self, b: Builder) -> tuple[Value, ...]:
        return ()

    def split(self, b: Builder, x: Value, constants: tuple[Value, ...]) -> tuple[Value, ...]:
        return (x,)

    def terms(self, b: Builder, parts: tuple[Value, ...], source: int, output: int) -> Iterator[Value]:
        return iter(parts)
