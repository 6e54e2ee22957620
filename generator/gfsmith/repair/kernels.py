"""A forecast of the kernels that the library runs for a matrix, for `gfsmith plan`.

The module repeats the rules of the runtime (map.c, dispatch.c, baked.c) for a configuration, because
`gfsmith plan` also shows sets that this machine cannot run. So it is no independent evidence about the
runtime: tests/system/runtime/test_passes.py compares it with the calls of the library, and no proof uses it.

The choice is that for shards in cache, and for CPUs for which the build has no tuned kernel (docs/tuning.md):
a kernel that neither prefetches nor stores around the cache, for exactly these inputs rather than for any
number; if there are several, the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gfsmith.kernel.defaults import PASS_MAX
from gfsmith.kernel.spec import KernelSpec, Operation, Store, default_technique
from gfsmith.kernel.technique import FORMAT


@dataclass(frozen=True, slots=True)
class Pass:
    """One kernel and the rows of the matrix that it computes."""

    first: int
    outputs: int
    symbol: str


class Choice:
    """The kernels of one instruction set that its codecs may use."""

    def __init__(self, specs: Iterable[KernelSpec], isa: str) -> None:
        cached = [
            spec
            for spec in specs
            if spec.isa.name == isa and spec.store is Store.TEMPORAL and not (spec.prefetch or spec.pipelined)
        ]
        self._baked = [spec for spec in cached if spec.baked is not None]
        self._tables = [spec for spec in cached if spec.baked is None and self._in_format(spec)]

    @staticmethod
    def _in_format(spec: KernelSpec) -> bool:
        standard = default_technique(Operation.DOT, spec.isa)
        return spec.operation is Operation.XOR or spec.tables is FORMAT[standard]

    def _kernel(self, operation: Operation, inputs: int, outputs: int) -> KernelSpec | None:
        suiting = [
            spec
            for spec in self._tables
            if (spec.operation, spec.outputs) == (operation, outputs) and spec.inputs in (None, inputs)
        ]
        return min(suiting, key=lambda spec: spec.inputs is None, default=None)

    def _known(self, polynomial: int, rows: Sequence[Sequence[int]]) -> KernelSpec | None:
        """Return the kernel for a known matrix that has the most of the first rows."""
        found = [
            spec
            for spec in self._baked
            if spec.field.polynomial == polynomial
            and spec.baked is not None
            and list(spec.baked.rows) == [tuple(row) for row in rows[: spec.outputs]]
        ]
        return max(found, key=lambda spec: spec.outputs, default=None)

    def _balanced(self, inputs: int, left: int) -> int:
        """Return the number of outputs of the next pass with tables; 0 if there is no kernel."""

        def exists(outputs: int) -> bool:
            return self._kernel(Operation.DOT, inputs, outputs) is not None

        limit = next((n for n in range(min(left, PASS_MAX), 0, -1) if exists(n)), 0)
        if limit == 0:
            return 0
        passes = -(-left // limit)
        return next((n for n in range(-(-left // passes), limit) if exists(n)), limit)

    def _of_tables(self, rows: Sequence[Sequence[int]]) -> KernelSpec | None:
        """Return the kernel for all these rows: the kernel of sums if all entries are 1."""
        inputs, outputs = len(rows[0]), len(rows)
        if all(e == 1 for row in rows for e in row):
            kernel = self._kernel(Operation.XOR, inputs, outputs)
            if kernel is not None:
                return kernel
        return self._kernel(Operation.DOT, inputs, outputs)

    def passes(self, polynomial: int, matrix: Sequence[Sequence[int]]) -> tuple[Pass, ...] | None:
        """Return the passes in their order; None if kernels are missing."""
        found: list[Pass] = []
        first = 0
        while first < len(matrix):
            kernel = self._known(polynomial, matrix[first:])
            if kernel is None:
                end = first + 1
                while end < len(matrix) and self._known(polynomial, matrix[end:]) is None:
                    end += 1
                length = self._balanced(len(matrix[0]), end - first)
                kernel = self._of_tables(matrix[first : first + length]) if length else None
            if kernel is None:
                return None
            found.append(Pass(first, kernel.outputs, kernel.symbol))
            first += kernel.outputs
        return tuple(found)
