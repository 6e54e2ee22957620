"""The code of Zerasure: a Cauchy matrix whose points a genetic search chooses for a cheap schedule.

Source: T. Zhou, C. Tian, "Fast erasure coding for data storage: a comprehensive study of the acceleration
techniques", FAST 2019. A candidate is a Cauchy matrix 1 / (x[i] + y[j]) given by its points; columns and rows
are scaled as in Jerasure's cauchy_good. Its cost counts the additions of the smart schedule; the copies of a
schedule in memory, one at the beginning of every row, are the same for all candidates. The shares of the
search are those that the authors state for their stored results: a population of 100, of which 0.3 are
selected; 0.6 of the new candidates are crossings, 0.1 are mutated.

Departures: the number of candidates is bounded by WORK, so that a search takes seconds; the cost omits the
matching of common pairs, which takes a hundred times as long and follows when a kernel is generated
(lower/circuits/schedule.py). The first population contains the points of cauchy_good, and the best candidate
always survives, so the result is never more expensive than cauchy_good.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from gfsmith.codes import jerasure, names
from gfsmith.codes.family import Family
from gfsmith.field import DEGREE, ORDER, Field
from gfsmith.field.cauchy import points
from gfsmith.field.derivation import derived
from gfsmith.field.matrix import Matrix

SEED = 2019
POPULATION, SELECTED, CROSSED, MUTATED = 100, 0.3, 0.6, 0.1
#: Products of all candidates together: scaling takes up to k * k * m for one.
WORK = 8_000_000
MOST, LEAST = 4000, 40  #: candidates
GENERATIONS = 4  #: at least, with a smaller population for wide shapes


class Candidate(NamedTuple):
    """cost first, so candidates compare by it. points: m of the rows, then k of the columns."""

    cost: int
    points: tuple[int, ...]


def rows_of(field: Field, matrix: Matrix) -> list[int]:
    """Return the rows of the bit matrix as integers: bit 8 j + x is column x of element j."""
    found = []
    for row in matrix:
        blocks = [field.matrix(element) for element in row]
        for bit in range(DEGREE):
            found.append(sum(block[bit] << DEGREE * j for j, block in enumerate(blocks)))
    return found


def cost(field: Field, matrix: Matrix) -> int:
    """Return the additions of the smart schedule."""
    return sum(step.additions for step in derived(rows_of(field, matrix)))


class _Search:
    """The state of one search."""

    def __init__(self, field: Field, k: int, m: int) -> None:
        self.field, self.k, self.m = field, k, m
        self.random = random.Random(SEED).random  # the only method with the same results in every version
        self.known: dict[tuple[int, ...], Candidate] = {}

    def below(self, bound: int) -> int:
        return int(self.random() * bound)

    def matrix(self, chosen: Sequence[int]) -> Matrix:
        x, y = chosen[: self.m], chosen[self.m :]
        return jerasure.scaled(self.field, [[self.field.inverse(a ^ b) for b in y] for a in x])

    def candidate(self, chosen: Sequence[int]) -> Candidate:
        """Return the candidate; the order of rows, and that of columns, matters for the scaling only."""
        key = tuple(chosen)
        if key not in self.known:
            self.known[key] = Candidate(cost(self.field, self.matrix(key)), key)
        return self.known[key]

    def anything(self) -> list[int]:
        left = list(range(ORDER))
        return [left.pop(self.below(len(left))) for _ in range(self.k + self.m)]

    def crossed(self, one: Sequence[int], other: Sequence[int]) -> list[int]:
        """Return points each of which is that of `one` or of `other`, without repetition."""
        child = list(one)
        used = set(child)
        for n, point in enumerate(other):
            if point not in used and self.random() < 0.5:
                used.remove(child[n])
                used.add(point)
                child[n] = point
        return child

    def mutated(self, chosen: Sequence[int]) -> list[int]:
        """Return the points with one replaced, by an unused one or by another one that takes its place."""
        child = list(chosen)
        at, point = self.below(len(child)), self.below(ORDER)
        if point in child:
            child[child.index(point)] = child[at]
        child[at] = point
        return child

    def child(self, parents: Sequence[Candidate]) -> Candidate:
        one, other = (parents[self.below(len(parents))].points for _ in range(2))
        crossing = self.random() < CROSSED
        made = self.crossed(one, other) if crossing else list(one)
        if not crossing or self.random() < MUTATED:
            made = self.mutated(made)
        return self.candidate(made)

    def run(self, start: Sequence[int]) -> Candidate:
        """Return the best candidate after a number of generations that depends on the shape only."""
        most = max(LEAST, min(MOST, WORK // (self.k * self.k * self.m)))
        size = min(POPULATION, most // GENERATIONS)
        population = [self.candidate(start), *(self.candidate(self.anything()) for _ in range(size - 1))]
        kept = int(size * SELECTED)
        for _ in range((most - size) // (size - kept)):
            parents = sorted(population)[:kept]
            population = [*parents, *(self.child(parents) for _ in range(size - kept))]
        return min(population)


def start(field: Field, k: int, m: int) -> tuple[int, ...]:
    """Return points of cauchy_good, first those of its rows."""
    found = next(points(field, jerasure.cauchy_good(field, k, m)))
    return (*found.y, *found.x)


def _zerasure(field: Field, k: int, m: int) -> Matrix:
    if k == 1 or m == 1:
        return ((1,) * k,) * m
    search = _Search(field, k, m)
    return search.matrix(search.run(start(field, k, m)).points)


FAMILIES = (Family(names.ZERASURE, _zerasure),)
