"""Horner's rule for dst[i] = sum over j of (2^i)^j * src[j]: from the last source to the first, multiply the
sum by 2^i, then add the source.

Doubling is one affine instruction (Drucker, Gueron, Krasnov, "The comeback of Reed Solomon codes", section
III-A and figure 1b), or a shift and an addition of the polynomial if a bit is carried out (H. P. Anvin, "The
mathematics of RAID-6"). For a pair of sources, both steps are one: 4 S + 2 a + b.
"""

from __future__ import annotations

from collections.abc import Sequence

from gfsmith.ir import Op, Ref, Space, Value
from gfsmith.kernel.spec import KernelSpec, Technique
from gfsmith.kernel.tables import entry
from gfsmith.lower.builder import Builder


class Horner:
    """Values that all loops of a kernel share: the matrix of each multiplier, or the polynomial."""

    def __init__(self, spec: KernelSpec, b: Builder) -> None:
        self._spec = spec
        self.constants = b""
        self._matrices: dict[int, Value] = {}
        self._polynomial: Value | None = None
        if spec.technique is Technique.SHIFT:
            self._polynomial = b.emit(Op.CONST, immediate=spec.field.polynomial & 0xFF)
            return
        powers = {output * taken for output in range(1, spec.outputs) for taken in range(1, spec.group + 1)}
        for power in sorted(powers):
            ref = Ref(Space.CONSTANT, 0, len(self.constants))
            self._matrices[power] = b.emit(Op.MATRIX, ref=ref)
            self.constants += entry(spec.field, spec.entries, spec.field.power(2, power))

    def take(self, b: Builder, sources: Sequence[Value], totals: list[Value | None]) -> None:
        """Update every total with the given sources, in their order."""
        for output, before in enumerate(totals):
            assert before is not None
            total = self._times(b, before, output * len(sources))
            for follow, x in zip(reversed(range(len(sources))), sources, strict=True):
                total = b.emit(Op.XOR, total, self._times(b, x, output * follow))
            totals[output] = total

    def _times(self, b: Builder, x: Value, power: int) -> Value:
        """Return x * 2^power."""
        if power == 0:
            return x
        if self._polynomial is None:
            return b.emit(Op.AFFINE, x, self._matrices[power])
        for _ in range(power):
            x = b.emit(Op.XOR, b.emit(Op.TWICE, x), b.emit(Op.CHOOSE, x, self._polynomial))
        return x
