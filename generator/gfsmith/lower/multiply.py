"""What every multiplication technique offers to the loops around it."""

from __future__ import annotations

from typing import Protocol

from gfsmith.ir import Value
from gfsmith.lower.builder import Builder


class Multiply(Protocol):
    """c * x for a byte vector x and a coefficient c that lies in the table."""

    def constants(self, b: Builder) -> tuple[Value, ...]:
        """Values that the kernel needs once per call."""
        ...

    def split(self, b: Builder, x: Value, constants: tuple[Value, ...]) -> tuple[Value, ...]:
        """What all products of x share."""
        ...

    def terms(self, b: Builder, parts: tuple[Value, ...], source: int, output: int) -> tuple[Value, ...]:
        """Values whose sum is c[output][source] * x."""
        ...
