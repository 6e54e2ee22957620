"""Integers with unknowns, and bounds of them.

A word is a number, or a constant plus multiples of named unknowns. A pointer is a region and an offset. Facts
are bounds of linear forms; every derivation below is exact integer arithmetic.
"""

from __future__ import annotations

from functools import lru_cache
from math import gcd, inf
from typing import Any, NamedTuple

Terms = tuple[tuple[str, int], ...]
Bound = int | float
SPAN = 1 << 64


class Rejected(Exception):
    """The certificate or the code is wrong, or the judge cannot check it."""


def require(condition: bool, what: str) -> None:
    if not condition:
        raise Rejected(what)


class Contradiction(Exception):
    """Facts that cannot hold together: no execution takes this path."""


class Linear(NamedTuple):
    """constant + the sum of factor * unknown over `terms`, which are sorted, with factors other than 0."""

    constant: int
    terms: Terms


Word = int | Linear


class Region(NamedTuple):
    """Memory that an argument gives: shard `number` of a kind, an array, the stack, or the code."""

    kind: str
    number: Word = 0


class Pointer(NamedTuple):
    region: Region
    offset: Word


def unknown(name: str) -> Linear:
    return Linear(0, ((name, 1),))


def _make(constant: int, terms: dict[str, int]) -> Word:
    left = tuple(sorted(item for item in terms.items() if item[1]))
    return Linear(constant, left) if left else constant


def add(left: Word, right: Word) -> Word:
    if isinstance(right, int):
        return left + right if isinstance(left, int) else Linear(left.constant + right, left.terms)
    if isinstance(left, int):
        return Linear(left + right.constant, right.terms)
    terms = dict(left.terms)
    for name, factor in right.terms:
        terms[name] = terms.get(name, 0) + factor
    return _make(left.constant + right.constant, terms)


def scale(value: Word, by: int) -> Word:
    if isinstance(value, int):
        return value * by
    return _make(value.constant * by, {name: factor * by for name, factor in value.terms})


def subtract(left: Word, right: Word) -> Word:
    if isinstance(right, int):
        return left - right if isinstance(left, int) else Linear(left.constant - right, left.terms)
    if isinstance(left, Linear) and left.terms == right.terms:
        return left.constant - right.constant
    return add(left, scale(right, -1))


def divide(value: Word, by: int) -> Word:
    """Return value / by. Raises Rejected if a part of the sum is no multiple."""
    if isinstance(value, int):
        if value % by:
            raise Rejected(f"{value} is no multiple of {by}")
        return value // by
    if value.constant % by or any(factor % by for _, factor in value.terms):
        raise Rejected(f"{value} is no multiple of {by}")
    return Linear(value.constant // by, tuple((name, factor // by) for name, factor in value.terms))


def replace(value: Word, name: str, by: Word) -> Word:
    """Return the value with `by` in place of an unknown."""
    if isinstance(value, int):
        return value
    for other, factor in value.terms:
        if other == name:
            rest = _make(value.constant, {n: f for n, f in value.terms if n != name})
            return add(rest, scale(by, factor))
    return value


def word(data: Any) -> Word:
    """Return a word from plain data: a number, or [constant, [[name, factor], ...]]."""
    if type(data) is int:
        return data
    constant, terms = data
    total: Word = int(constant)
    for name, factor in terms:
        total = add(total, scale(unknown(str(name)), int(factor)))
    return total


@lru_cache(maxsize=1 << 14)
def _normal(terms: Terms) -> tuple[Terms, int]:
    """Return terms without common factor, the first positive, and that factor."""
    factor = gcd(*(f for _, f in terms)) * (1 if terms[0][1] > 0 else -1)
    return (terms if factor == 1 else tuple((n, f // factor) for n, f in terms)), factor


class Facts:
    """Bounds of linear forms. An unknown without a fact may have any value."""

    __slots__ = ("_found", "bounds")

    def __init__(self) -> None:
        self.bounds: dict[Terms, tuple[Bound, Bound]] = {}
        self._found: dict[Terms, tuple[Bound, Bound]] = {}

    def copy(self) -> Facts:
        new = Facts()
        new.bounds, new._found = dict(self.bounds), dict(self._found)
        return new

    def range(self, value: Word) -> tuple[Bound, Bound]:
        """Return bounds of a value that follow from the facts."""
        if isinstance(value, int):
            return value, value
        found = self._found.get(value.terms)
        if found is None:
            terms, factor = _normal(value.terms)
            low, high = self._derive(terms)
            found = (factor * low, factor * high) if factor > 0 else (factor * high, factor * low)
            self._found[value.terms] = found
        return value.constant + found[0], value.constant + found[1]

    def _derive(self, terms: Terms) -> tuple[Bound, Bound]:
        """Return bounds from the form itself, from its unknowns, and from one other form and the rest."""
        low, high = self._sum(terms)
        known = self.bounds.get(terms)
        if known is not None:
            low, high = max(low, known[0]), min(high, known[1])
        form = dict(terms)
        for other, (least, greatest) in self.bounds.items():
            if len(other) == 1 or len(terms) == 1:
                continue
            name, factor = other[-1]
            times, rest = divmod(form.get(name, 0), factor)
            if rest or not times:
                continue
            left = add(Linear(0, terms), scale(Linear(0, other), -times))
            below, above = self._sum(left.terms) if isinstance(left, Linear) else (left, left)
            ends = (times * least, times * greatest)
            low, high = max(low, min(ends) + below), min(high, max(ends) + above)
        return low, high

    def _sum(self, terms: Terms) -> tuple[Bound, Bound]:
        low: Bound = 0
        high: Bound = 0
        for term in terms:
            least, greatest = self.bounds.get(((term[0], 1),), (-inf, inf))
            ends = (term[1] * least, term[1] * greatest)
            low, high = low + min(ends), high + max(ends)
        return low, high

    def assume(self, value: Word, low: Bound, high: Bound) -> None:
        """Add low <= value <= high, with bounds rounded to integers. Raises Contradiction."""
        if isinstance(value, int):
            if not low <= value <= high:
                raise Contradiction
            return
        terms, factor = _normal(value.terms)
        low, high = low - value.constant, high - value.constant
        if factor < 0:
            low, high, factor = -high, -low, -factor
        low = low if low in (inf, -inf) else -(-int(low) // factor)
        high = high if high in (inf, -inf) else int(high) // factor
        before = self.range(Linear(0, terms))
        low, high = max(low, before[0]), min(high, before[1])
        if low > high:
            raise Contradiction
        if self.bounds.get(terms) != (low, high):
            self.bounds[terms] = (low, high)
            self._found = {}

    def tighten(self) -> None:
        """Bound single unknowns by the forms in which they occur."""
        for terms, (low, high) in list(self.bounds.items()):
            if len(terms) == 1:
                continue
            for name, factor in terms:
                below, above = self._sum(tuple(term for term in terms if term[0] != name))
                self.assume(Linear(0, ((name, factor),)), low - above, high - below)

    def replace(self, name: str, by: Word) -> None:
        """Replace an unknown in all facts, and keep the bounds of the unknown as those of `by`."""
        old, self.bounds, self._found = self.bounds, {}, {}
        for terms, (low, high) in old.items():
            self.assume(replace(Linear(0, terms), name, by), low, high)
