"""Circuits of generalised Cauchy matrices from additive Fourier transforms over small subspaces.

Let V be a GF(2)-subspace of the field with basis v[0..D-1], s(x) the product of x + v over v in V, c the
product of the v other than 0. For sources whose points are x = g + v, v in V, and parities at y = h + v,
with g + h not in V,

    sum over the sources of A[x] / (y + x)  =  c / s(g + h) * f(y),

where f is the polynomial of degree below 2^D with f(x) = A[x] (Lagrange: both sides have the poles of the
coset, and s is constant on cosets). One inverse transform computes f from the sources, for every h. The
coefficients of all cosets are added, each times its constant. One transform evaluates the sum at h + V.

    transform step, X[b](x) = s_b(x) / s_b(v[b]), s_b that of the span of v[0..b-1]:
    f = F0 + X[b] F1:  f on the lower half is F0 + X[b](g) F1, on the upper one that + F1.

Source: S.-J. Lin, W.-H. Chung, Y. S. Han, "Novel polynomial basis and its application to Reed-Solomon
erasure codes", FOCS 2014. A source that a coset lacks counts as 0, and a missing parity is left out. A coset
of sources is multiplied element by element if it is also a coset of parities, or if that is cheaper.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import product

from gfsmith.field import Field
from gfsmith.field.cauchy import Points
from gfsmith.field.matrix import Matrix
from gfsmith.lower.circuits.network import Circuit, Network, Term

Basis = tuple[int, ...]


class Subspace:
    """The span of a basis, with its polynomials."""

    def __init__(self, field: Field, basis: Basis) -> None:
        self.field = field
        self.basis = basis
        self.elements = [0]
        for vector in basis:
            self.elements += [e ^ vector for e in self.elements]
        self._echelon: list[int] = []
        for vector in sorted(basis, reverse=True):
            self._echelon = sorted([*self._echelon, self.coset(vector)], reverse=True)
        self._levels = [self.elements[: 1 << b] for b in range(len(basis))]
        self.constant = 1
        for element in self.elements[1:]:
            self.constant = field.multiply(self.constant, element)

    def _vanishing(self, elements: list[int], x: int) -> int:
        value = 1
        for element in elements:
            value = self.field.multiply(value, x ^ element)
        return value

    def coset(self, x: int) -> int:
        """Return the least element of x + V."""
        for vector in self._echelon:
            x = min(x, x ^ vector)
        return x

    def twiddle(self, level: int, x: int) -> int:
        """X[level](x)."""
        below = self._levels[level]
        scale = self.field.inverse(self._vanishing(below, self.basis[level]))
        return self.field.multiply(scale, self._vanishing(below, x))

    def residue(self, x: int) -> int:
        """Return c / s(x), the constant of a pair of cosets whose difference is x + V."""
        return self.field.multiply(self.constant, self.field.inverse(self._vanishing(self.elements, x)))

    def interpolate(self, network: Network, values: list[Term], x: int) -> list[Term]:
        """Return the coefficients of the polynomial with these values on x + elements."""
        if len(values) == 1:
            return values
        half, level = len(values) // 2, len(values).bit_length() - 2
        low = self.interpolate(network, values[:half], x)
        high = self.interpolate(network, values[half:], x ^ self.basis[level])
        w = self.twiddle(level, x)
        upper = [network.add(a, b) for a, b in zip(low, high, strict=True)]
        if w == 1:
            return [*high, *upper]
        return [*(network.add(a, network.scale(w, t)) for a, t in zip(low, upper, strict=True)), *upper]

    def evaluate(self, network: Network, coefficients: list[Term], x: int) -> list[Term]:
        """Return the values on x + elements of the polynomial with these coefficients."""
        if len(coefficients) == 1:
            return coefficients
        half, level = len(coefficients) // 2, len(coefficients).bit_length() - 2
        w = self.twiddle(level, x)
        lower, upper = coefficients[:half], coefficients[half:]
        low = [network.add(f, network.scale(w, g)) for f, g in zip(lower, upper, strict=True)]
        high = [network.add(a, g) for a, g in zip(low, upper, strict=True)]
        return self.evaluate(network, low, x) + self.evaluate(network, high, x ^ self.basis[level])


@dataclass(frozen=True, slots=True)
class Plan:
    """Points of a matrix and the subspace that factors it. dense: cosets of sources that are multiplied
    element by element."""

    points: Points
    basis: Basis
    dense: frozenset[int]


def groups(space: Subspace, points: tuple[int, ...]) -> dict[int, list[int]]:
    """Return coset -> the numbers of the points in it, in order of their first point."""
    found: dict[int, list[int]] = {}
    for number, point in enumerate(points):
        found.setdefault(space.coset(point), []).append(number)
    return found


class _Builder:
    def __init__(self, field: Field, matrix: Matrix, plan: Plan) -> None:
        self.field, self.matrix, self.points = field, matrix, plan.points
        self.space = Subspace(field, plan.basis)
        self.network = Network(field)
        self.blocks = groups(self.space, plan.points.y)
        self.dense = plan.dense | self.blocks.keys()
        self.row_scale = _usual(plan.points.rows)

    def outputs(self) -> list[Term]:
        """Return the terms that the network must compute, one for each row of the matrix."""
        sums: dict[int, list[Term]] = {h: [None] * len(self.space.elements) for h in self.blocks}
        direct: list[Term] = [None] * len(self.matrix)
        for coset, sources in groups(self.space, self.points.x).items():
            if coset in self.dense:
                self._multiply(sources, direct)
            else:
                self._transform(coset, sources, sums)
        return self._outputs(sums, direct)

    def _multiply(self, sources: list[int], direct: list[Term]) -> None:
        network = self.network
        for j, (i, row) in product(sources, enumerate(self.matrix)):
            direct[i] = network.add(direct[i], network.scale(row[j], network.input(j)))

    def _transform(self, coset: int, sources: list[int], sums: dict[int, list[Term]]) -> None:
        network, multiply = self.network, self.field.multiply
        columns = [self.points.columns[j] for j in sources]
        usual = _usual(columns)
        scale = self.field.inverse(usual)
        values: list[Term] = [None] * len(self.space.elements)
        for j, column in zip(sources, columns, strict=True):
            place = self.space.elements.index(self.points.x[j] ^ coset)
            # Columns that are multiples of each other have one point, so their sources are added first.
            source = network.scale(multiply(scale, column), network.input(j))
            values[place] = network.add(values[place], source)
        coefficients = self.space.interpolate(network, values, coset)
        for h, total in sums.items():
            factor = multiply(multiply(usual, self.row_scale), self.space.residue(coset ^ h))
            for t, term in enumerate(coefficients):
                total[t] = network.add(total[t], network.scale(factor, term))

    def _outputs(self, sums: dict[int, list[Term]], direct: list[Term]) -> list[Term]:
        network, field = self.network, self.field
        outputs = list(direct)
        for h, rows in self.blocks.items():
            values = self.space.evaluate(network, sums[h], h)
            for i in rows:
                value = values[self.space.elements.index(self.points.y[i] ^ h)]
                factor = field.multiply(self.points.rows[i], field.inverse(self.row_scale))
                outputs[i] = network.add(outputs[i], network.scale(factor, value))
        return outputs


def _usual(values: tuple[int, ...] | list[int]) -> int:
    """Return the most frequent value."""
    return Counter(values).most_common(1)[0][0]


def factored(field: Field, matrix: Matrix, plan: Plan) -> Circuit:
    """Return the circuit of a matrix that has the plan's points."""
    builder = _Builder(field, matrix, plan)
    return builder.network.finish(builder.outputs())


def size(field: Field, matrix: Matrix, plan: Plan) -> tuple[int, int]:
    """Return the multiplications and additions of that circuit."""
    builder = _Builder(field, matrix, plan)
    return builder.network.size(builder.outputs())
