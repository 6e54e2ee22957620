"""Butterflies of the additive FFT and its inverse, on elements x and y of one or two byte planes.

Source of the transforms: S.-J. Lin, W.-H. Chung, Y. S. Han, "Novel polynomial basis and its application to
Reed-Solomon erasure codes", FOCS 2014.
"""

from __future__ import annotations

from collections.abc import Sequence

from gfsmith.ir import Op, Space, Value
from gfsmith.kernel.spec import KernelSpec, Operation
from gfsmith.lower.builder import Builder
from gfsmith.lower.multiply import Multiply


class Butterfly:
    """x += C y, then y += x; the inverse in the other order."""

    def __init__(self, spec: KernelSpec, multiply: Multiply, constants: tuple[Value, ...]) -> None:
        self._planes = spec.table_outputs
        self._inverse = spec.operation is Operation.IFFT
        self._multiply = multiply
        self._constants = constants

    def take(self, b: Builder, offset: int) -> None:
        """Emit the butterfly of one vector of every plane. All loads precede the stores, because a
        destination may be a source."""
        planes = self._planes
        loaded = [b.load(Space.SOURCE, source, offset) for source in range(2 * planes)]
        x, y = loaded[:planes], loaded[planes:]
        if self._inverse:
            y = self._sums(b, y, x)
            x = self._with_products(b, x, y)
        else:
            x = self._with_products(b, x, y)
            y = self._sums(b, y, x)
        for output, value in enumerate((*x, *y)):
            b.store(value, output, offset)

    def _sums(self, b: Builder, left: Sequence[Value], right: Sequence[Value]) -> list[Value]:
        return [b.emit(Op.XOR, one, other) for one, other in zip(left, right, strict=True)]

    def _with_products(self, b: Builder, x: Sequence[Value], y: Sequence[Value]) -> list[Value]:
        """Return the planes of x + C y."""
        totals = list(x)
        for source, plane in enumerate(y):
            parts = self._multiply.split(b, plane, self._constants)
            for output in range(self._planes):
                for term in self._multiply.terms(b, parts, source, output):
                    totals[output] = b.emit(Op.XOR, totals[output], term)
        return totals
