"""The interface of multiplication techniques to the loops."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from gfsmith.ir import Value
from gfsmith.lower.builder import Builder


class Multiply(Protocol):
    """c * x for a byte vector x and a coefficient c in the tables."""

    def constants(self, b: Builder) -> tuple[Value, ...]:
        """Return the values that the kernel computes once per call."""
        ...

    def split(self, b: Builder, x: Value, constants: tuple[Value, ...]) -> tuple[Value, ...]:
        """Return the values that all products of x share."""
        ...

    def terms(self, b: Builder, parts: tuple[Value, ...], source: int, output: int) -> Iterator[Value]:
        """Yield values whose sum is c[output][source] * x. The code of each is emitted
        separately, so the caller can add it before the next one needs a register."""
        ...
