"""Multiplication by 1: the products are the sources."""

from __future__ import annotations

from gfsmith.ir import Value
from gfsmith.lower.builder import Builder


class Plain:
    def constants(self, b: Builder) -> tuple[Value, ...]:
        return ()

    def split(self, b: Builder, x: Value, constants: tuple[Value, ...]) -> tuple[Value, ...]:
        return (x,)

    def terms(self, b: Builder, parts: tuple[Value, ...], source: int, output: int) -> tuple[Value, ...]:
        return parts
