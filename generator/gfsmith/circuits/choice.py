"""Which circuit for a matrix: all that there are, cheapest first.

The cost counts what the busiest execution ports do for one vector of every source: `product` for a
multiplication by a constant, `sum` for an addition (less than 1 where two make one three-input
instruction or several ports share them).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from gfsmith.circuits.cauchy import Points, points
from gfsmith.circuits.dense import dense
from gfsmith.circuits.factored import Basis, Plan, Subspace, factored, groups
from gfsmith.circuits.network import Circuit
from gfsmith.circuits.schedule import summed
from gfsmith.field import Field
from gfsmith.matrix import Matrix

_LARGEST = 5  #: dimension of a subspace: larger transforms save little more and hold ever more values
_SPANS = 40  #: subspaces per dimension that are looked at
_SHARED = (2, 3, 4, 6, 256)  #: rows in which two values must stand together to be added once; 256: never
_TRIED = 12  #: plans per dimension that are built, by their estimate


@dataclass(frozen=True, slots=True)
class Candidate:
    """method: dense, factored with the dimension of the subspace, or schedule (additions only)."""

    method: str
    dimension: int
    circuit: Circuit

    @property
    def label(self) -> str:
        return f"{self.method}{self.dimension or ''}"

    def cost(self, product: float, sum_: float) -> float:
        return product * self.circuit.multiplications + sum_ * self.circuit.additions


def _bases(y: tuple[int, ...], largest: int) -> Iterator[tuple[Basis, ...]]:
    """For each dimension from 1 on, bases of subspaces spanned by differences from the first parity's
    point, one for each subspace; of many subspaces those that hold the most points."""
    differences = sorted({a ^ y[0] for a in y[1:]})
    spans: dict[frozenset[int], Basis] = {frozenset({0}): ()}
    for _ in range(largest):
        wider: dict[frozenset[int], Basis] = {}
        for span, basis in spans.items():
            for vector in differences:
                if vector not in span and vector > max(basis, default=0):
                    wider.setdefault(span | {e ^ vector for e in span}, (*basis, vector))
        best = sorted(wider.items(), key=lambda item: (-len(item[0].intersection(differences)), item[1]))
        spans = dict(best[:_SPANS])
        yield tuple(spans.values())


def _estimate(field: Field, found: Points, basis: Basis) -> float | None:
    """Multiplications, roughly: what cosets and unequal factors cost; None if parities lie scattered."""
    space = Subspace(field, basis)
    size, dimension = len(space.elements), len(basis)
    blocks = groups(space, found.y)
    if len(blocks) > -(-len(found.y) // size) + 1:
        return None
    cosets = groups(space, found.x)
    total = 0.0
    for coset, sources in cosets.items():
        if coset in blocks:
            total += len(sources) * len(found.y)
            continue
        unequal = len(sources) - max(
            [found.columns[j] for j in sources].count(found.columns[n]) for n in sources
        )
        inverse = dimension * size / 2 * min(1.0, 2 * len(sources) / size)
        plain = len(blocks) == 1 and found.columns[sources[0]] == field.inverse(
            space.residue(coset ^ next(iter(blocks)))
        )
        total += unequal + inverse + (0 if plain else size * len(blocks))
    rows = max(found.rows.count(r) for r in found.rows)
    return total + len(found.rows) - rows + len(blocks) * (dimension - 1) * size / 2


def _plans(field: Field, matrix: Matrix) -> Iterator[list[Plan]]:
    """The most promising ones of each dimension, with the parities' first point moved to 0."""
    largest = min(_LARGEST, (len(matrix) - 1).bit_length())
    scored: list[list[tuple[float, int, Basis, Points]]] = [[] for _ in range(largest)]
    for number, found in enumerate(points(field, matrix)):
        shift = found.y[0]
        moved = Points(
            tuple(y ^ shift for y in found.y), tuple(x ^ shift for x in found.x), found.rows, found.columns
        )
        for entries, bases in zip(scored, _bases(moved.y, largest), strict=True):
            for basis in bases:
                estimate = _estimate(field, moved, basis)
                if estimate is not None:
                    entries.append((estimate, number, basis, moved))
    for entries in scored:
        entries.sort(key=lambda entry: entry[:3])
        yield [Plan(moved, basis, frozenset()) for _, _, basis, moved in entries[:_TRIED]]


def _refined(field: Field, matrix: Matrix, plan: Plan, cost: Callable[[Circuit], float]) -> Circuit:
    """The plan's circuit, with those cosets multiplied element by element that are cheaper so."""
    best = factored(field, matrix, plan)
    space = Subspace(field, plan.basis)
    for coset, sources in groups(space, plan.points.x).items():
        if len(sources) < len(space.elements):
            changed = Plan(plan.points, plan.basis, plan.dense | {coset})
            circuit = factored(field, matrix, changed)
            if cost(circuit) < cost(best):
                best, plan = circuit, changed
    return best


@lru_cache(maxsize=256)
def candidates(field: Field, matrix: Matrix, product: float, sum_: float) -> tuple[Candidate, ...]:
    """One circuit per method, cheapest first; each applies exactly the matrix."""

    def cost(circuit: Circuit) -> float:
        return product * circuit.multiplications + sum_ * circuit.additions

    found = [Candidate("dense", 0, dense(field, matrix))]
    for dimension, plans in enumerate(_plans(field, matrix), 1):
        circuits = [_refined(field, matrix, plan, cost) for plan in plans]
        if circuits:
            found.append(Candidate("factored", dimension, min(circuits, key=cost)))
    return tuple(sorted(found, key=lambda c: c.cost(product, sum_)))


@lru_cache(maxsize=256)
def schedules(field: Field, matrix: Matrix) -> tuple[Candidate, ...]:
    """For a matrix of 0 and 1, circuits of additions, fewest first: those that share less need fewer
    registers, and the last one shares nothing."""
    found = [Candidate("schedule", 0, summed(field, matrix, least)) for least in _SHARED]
    return tuple(sorted(found, key=lambda c: c.circuit.additions))
