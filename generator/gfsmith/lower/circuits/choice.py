"""Choice of the circuit for a matrix: all candidates, cheapest first.

The cost counts the operations of the busiest execution ports for one vector of every source: `product` for a
multiplication by a constant, `sum` for an addition (less than 1 if one three-input instruction does two
additions or if several ports share them).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from gfsmith.field import Field
from gfsmith.field.cauchy import Points, points
from gfsmith.field.matrix import Matrix
from gfsmith.lower.circuits.dense import dense
from gfsmith.lower.circuits.distribute import distributed
from gfsmith.lower.circuits.factored import Basis, Plan, Subspace, factored, groups, size
from gfsmith.lower.circuits.network import Circuit
from gfsmith.lower.circuits.schedule import derived_circuit, summed

_LARGEST = 6  #: dimension of a subspace: larger transforms save little more and need more values at once
_SPANS = 40  #: subspaces per dimension that are considered
_SHARED = (2, 3, 4, 6, 256)  #: rows that must contain two values for one shared addition; 256: never
_TRIED = 12  #: plans per dimension that are built, selected by their estimate


@dataclass(frozen=True, slots=True)
class Candidate:
    """method: dense, factored with the dimension of the subspace, or additions only: schedule, derived,
    matched."""

    method: str
    dimension: int
    circuit: Circuit

    @property
    def label(self) -> str:
        return f"{self.method}{self.dimension or ''}"

    def cost(self, product: float, sum_: float) -> float:
        return product * self.circuit.multiplications + sum_ * self.circuit.additions


def _bases(y: tuple[int, ...], largest: int) -> Iterator[tuple[Basis, ...]]:
    """For each dimension from 1 on, yield bases of the subspaces that differences from the first parity's
    point span, one basis for each subspace. Of many subspaces keep those that contain the most points."""
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
    """Estimate the multiplications for cosets and unequal factors; None if the parities lie scattered."""
    space = Subspace(field, basis)
    width, dimension = len(space.elements), len(basis)
    blocks = groups(space, found.y)
    if len(blocks) > -(-len(found.y) // width) + 1:
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
        inverse = dimension * width / 2 * min(1.0, 2 * len(sources) / width)
        plain = len(blocks) == 1 and found.columns[sources[0]] == field.inverse(
            space.residue(coset ^ next(iter(blocks)))
        )
        total += unequal + inverse + (0 if plain else width * len(blocks))
    rows = max(found.rows.count(r) for r in found.rows)
    return total + len(found.rows) - rows + len(blocks) * (dimension - 1) * width / 2


@lru_cache(maxsize=64)
def _plans(field: Field, matrix: Matrix) -> tuple[tuple[Plan, ...], ...]:
    """Return the most promising plans of each dimension, with the parities' first point moved to 0."""
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
    best = (sorted(entries, key=lambda entry: entry[:3])[:_TRIED] for entries in scored)
    return tuple(tuple(Plan(moved, basis, frozenset()) for _, _, basis, moved in entries) for entries in best)


@lru_cache(maxsize=1 << 15)
def _size(field: Field, matrix: Matrix, plan: Plan) -> tuple[int, int]:
    """Return the multiplications and additions of a plan's circuit. Each instruction set weighs them
    itself."""
    return size(field, matrix, plan)


def _refined(field: Field, matrix: Matrix, plan: Plan, product: float, sum_: float) -> tuple[float, Plan]:
    """Return the cost and the plan in which cosets are multiplied element by element where that is
    cheaper."""

    def cost(changed: Plan) -> float:
        multiplications, additions = _size(field, matrix, changed)
        return product * multiplications + sum_ * additions

    best = cost(plan)
    space = Subspace(field, plan.basis)
    for coset, sources in groups(space, plan.points.x).items():
        if len(sources) < len(space.elements):
            changed = Plan(plan.points, plan.basis, plan.dense | {coset})
            if cost(changed) < best:
                best, plan = cost(changed), changed
    return best, plan


@lru_cache(maxsize=256)
def candidates(field: Field, matrix: Matrix, product: float, sum_: float) -> tuple[Candidate, ...]:
    """Return one circuit per method, cheapest first. Each applies exactly the matrix."""
    found = [Candidate("dense", 0, dense(field, matrix))]
    for dimension, plans in enumerate(_plans(field, matrix), 1):
        refined = [_refined(field, matrix, plan, product, sum_) for plan in plans]
        if refined:
            _, best = min(refined, key=lambda each: each[0])
            circuit = distributed(field, factored(field, matrix, best))
            found.append(Candidate("factored", dimension, circuit))
    return tuple(sorted(found, key=lambda c: c.cost(product, sum_)))


@lru_cache(maxsize=256)
def schedules(field: Field, matrix: Matrix) -> tuple[Candidate, ...]:
    """Return circuits of additions for a matrix of 0 and 1, fewest additions first. Circuits that share less
    need fewer registers, and the last one shares nothing."""
    found = [Candidate("schedule", 0, summed(field, matrix, least)) for least in _SHARED]
    return tuple(sorted(found, key=lambda c: c.circuit.additions))


@lru_cache(maxsize=256)
def derivations(field: Field, matrix: Matrix) -> tuple[Candidate, ...]:
    """Return the schedules of other libraries for a matrix of 0 and 1: Cerasure's and Zerasure's."""
    methods = {"derived": False, "matched": True}
    return tuple(Candidate(name, 0, derived_circuit(field, matrix, how)) for name, how in methods.items())
