"""Butterflies of the additive FFT and its inverse, on 2, 4 or 16 elements of one or two byte planes.

A butterfly of 2^n elements is n layers of butterflies of two elements, with 2^n - 1 matrices. Some also
change the basis of the elements at one end, or multiply them.

Source of the transforms: S.-J. Lin, W.-H. Chung, Y. S. Han, "Novel polynomial basis and its application to
Reed-Solomon erasure codes", FOCS 2014.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gfsmith.ir import Op, Space, Value
from gfsmith.kernel.operation import BOTH, INVERSES, SCALED, is_first_of_layer
from gfsmith.kernel.spec import KernelSpec
from gfsmith.lower.builder import Builder
from gfsmith.lower.multiply import Multiply


def _steps(block: int, elements: int, matrix: int = 0) -> list[tuple[int, int, int]]:
    """Return the steps of an FFT of the elements from `block` on: the elements x and y, and the number of the
    matrix. A half is complete before the next one begins. The matrices of a layer stand behind those of the
    layer before, so those of the halves of block n of a layer are 2 n and 2 n + 1 of the next layer."""
    half = elements // 2
    if not half:
        return []
    layer = [(x, x + half, matrix) for x in range(block, block + half)]
    return [*layer, *_steps(block, half, 2 * matrix + 1), *_steps(block + half, half, 2 * matrix + 2)]


#: A step of two elements x and y: True for that of the inverse, x, y, and the number of the matrix, which is
#: 0 if there is none.
_Step = tuple[bool, int, int, int | None]


def _passes(spec: KernelSpec) -> list[_Step]:
    """Return the steps of a kernel, one after the other."""
    steps = _steps(0, spec.elements)
    if spec.operation in BOTH:
        first: list[_Step] = [(True, x, y, matrix + spec.elements - 1) for x, y, matrix in steps[::-1]]
        return [*first, *((False, x, y, None if is_first_of_layer(m) else m) for x, y, m in steps)]
    if spec.operation in INVERSES:
        return [(True, *step) for step in steps[::-1]]
    return [(False, *step) for step in steps]


class Butterfly:
    """Steps x += C y, then y += x; of the inverse both in the other order."""

    def __init__(self, spec: KernelSpec, multiply: Multiply, constants: tuple[Value, ...]) -> None:
        self._planes, self._elements = spec.table_outputs, spec.elements
        self._changed, self._scaled = spec.changed, spec.operation in SCALED
        self._steps = _passes(spec)
        self._multiply = multiply
        self._constants = constants

    def take(self, b: Builder, offset: int) -> None:
        """Emit the butterfly of one vector of every plane. All loads precede the stores, because a
        destination may be a source."""
        elements = [
            [b.load(Space.SOURCE, element * self._planes + plane, offset) for plane in range(self._planes)]
            for element in range(self._elements)
        ]
        if self._changed == "src":
            self._prepare(b, elements)
        for inverse, x, y, matrix in self._steps:
            if inverse:
                elements[y] = self._sums(b, elements[y], elements[x])
            if matrix is not None:
                elements[x] = self._with_products(b, elements[x], elements[y], matrix)
            if not inverse:
                elements[y] = self._sums(b, elements[y], elements[x])
        if self._changed == "dst":
            self._prepare(b, elements)
        for output, value in enumerate(plane for element in elements for plane in element):
            b.store(value, output, offset)

    def _prepare(self, b: Builder, elements: list[list[Value]]) -> None:
        """Multiply each element by its matrix, or add the product of the last column's first entry and the
        high plane to its low plane."""
        if self._scaled:
            elements[:] = [self._products(b, each, len(elements) - 1 + n) for n, each in enumerate(elements)]
            return
        column = self._planes * (len(elements) - 1)
        for element in elements:
            parts = self._multiply.split(b, element[1], self._constants)
            for term in self._multiply.terms(b, parts, column, 0):
                element[0] = b.emit(Op.XOR, element[0], term)

    def _sums(self, b: Builder, left: Sequence[Value], right: Sequence[Value]) -> list[Value]:
        return [b.emit(Op.XOR, one, other) for one, other in zip(left, right, strict=True)]

    def _with_products(self, b: Builder, x: Sequence[Value], y: Sequence[Value], matrix: int) -> list[Value]:
        """Return the planes of x plus the product of a matrix and y."""
        totals = list(x)
        for output, term in self._terms(b, y, matrix):
            totals[output] = b.emit(Op.XOR, totals[output], term)
        return totals

    def _products(self, b: Builder, element: Sequence[Value], matrix: int) -> list[Value]:
        """Return the planes of the product of a matrix and an element."""
        totals: dict[int, Value] = {}
        for output, term in self._terms(b, element, matrix):
            totals[output] = b.emit(Op.XOR, totals[output], term) if output in totals else term
        return [totals[output] for output in range(self._planes)]

    def _terms(self, b: Builder, element: Sequence[Value], matrix: int) -> Iterator[tuple[int, Value]]:
        """Yield planes of the product of a matrix and an element, and values whose sums they are."""
        for column, plane in enumerate(element, matrix * self._planes):
            parts = self._multiply.split(b, plane, self._constants)
            for output in range(self._planes):
                for term in self._multiply.terms(b, parts, column, output):
                    yield output, term
