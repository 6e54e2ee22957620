"""Integers with unknowns, and bounds of them.

A word is a number, or a constant plus multiples of named unknowns. A pointer is a region and an offset. Facts
are bounds of linear forms; every derivation below is exact integer arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from math import gcd, inf
from typing import Any, NamedTuple

Terms = tuple[tuple[str, int], ...]
Bound = int | float  #: an integer, or an infinity
SPAN = 1 << 64


class Rejected(Exception):
    """The certificate or the code is wrong, or the judge cannot check it."""


def require(condition: bool, what: str, *values: object) -> None:
    """Raise Rejected, with the values in the gaps of the text, unless the condition holds."""
    if not condition:
        raise Rejected(what.format(*values))


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

    def lies(self, multiple: int, behind: Pointer) -> bool:
        """Return whether the address lies a multiple of some bytes behind another one."""
        return self.region == behind.region and is_multiple(subtract(self.offset, behind.offset), multiple)


def unknown(name: str) -> Linear:
    return Linear(0, ((name, 1),))


def _make(constant: int, terms: dict[str, int]) -> Word:
    left = tuple(sorted(item for item in terms.items() if item[1]))
    return Linear(constant, left) if left else constant


def add(left: Word, right: Word, times: int = 1) -> Word:
    """Return left + right * times."""
    if isinstance(right, int):
        gain = right * times
        return left + gain if isinstance(left, int) else Linear(left.constant + gain, left.terms)
    constant, terms = (left, ()) if isinstance(left, int) else left
    sums = dict(terms)
    for name, factor in right.terms:
        sums[name] = sums.get(name, 0) + factor * times
    return _make(constant + right.constant * times, sums)


def scale(value: Word, by: int) -> Word:
    return add(0, value, by)


def subtract(left: Word, right: Word) -> Word:
    return add(left, right, -1)


def parts(value: Word) -> list[int]:
    return [value] if isinstance(value, int) else [value.constant, *(factor for _, factor in value.terms)]


def is_multiple(value: Word, of: int) -> bool:
    """Return whether each part of the sum is a multiple, and so the sum for all values of its unknowns."""
    return all(part % of == 0 for part in parts(value))


def divide(value: Word, by: int) -> Word:
    """Return value / by. Raises Rejected if a part of the sum is no multiple."""
    require(is_multiple(value, by), "{} is no multiple of {}", value, by)
    constant, terms = (value, ()) if isinstance(value, int) else value
    return _make(constant // by, {name: factor // by for name, factor in terms})


def replace(value: Word, name: str, by: Word) -> Word:
    """Return the value with `by` in place of an unknown."""
    factor = 0 if isinstance(value, int) else dict(value.terms).get(name, 0)
    return add(add(value, unknown(name), -factor), by, factor) if factor else value


def whole(data: Any) -> int:
    """Return an integer of a certificate, in which fractions and infinities have no meaning."""
    require(type(data) is int, "{} is no integer", data)
    return int(data)


def word(data: Any) -> Word:
    """Return a word from plain data: a number, or [constant, [[name, factor], ...]]."""
    if not isinstance(data, list):
        return whole(data)
    total: Word = whole(data[0])
    for name, factor in data[1]:
        total = add(total, unknown(str(name)), whole(factor))
    return total


def number(value: object) -> Word:
    """Return a value that is a number. Raises Rejected for addresses and data."""
    require(isinstance(value, int | Linear), "{} is used as a number", value)
    return value  # type: ignore[return-value]


def pointer(value: object) -> Pointer:
    """Return a value that is an address in a region. Raises Rejected for others."""
    require(isinstance(value, Pointer), "{} is used as an address", value)
    return value  # type: ignore[return-value]


@lru_cache(maxsize=1 << 14)
def _normal(terms: Terms) -> tuple[Terms, int]:
    """Return terms without common factor, the first positive, and that factor."""
    factor = gcd(*(f for _, f in terms)) * (1 if terms[0][1] > 0 else -1)
    return (terms if factor == 1 else tuple((n, f // factor) for n, f in terms)), factor


def _times(factor: int, bounds: tuple[Bound, Bound]) -> tuple[Bound, Bound]:
    """Return the bounds of a multiple. factor: not 0."""
    low, high = factor * bounds[0], factor * bounds[1]
    return (low, high) if factor > 0 else (high, low)


@dataclass(slots=True)
class Facts:
    """Bounds of linear forms. An unknown without a fact may have any value."""

    bounds: dict[Terms, tuple[Bound, Bound]] = field(default_factory=dict)
    _found: dict[Terms, tuple[Bound, Bound]] = field(default_factory=dict)  #: ranges that were derived

    def copy(self) -> Facts:
        return Facts(dict(self.bounds), dict(self._found))

    def range(self, value: Word) -> tuple[Bound, Bound]:
        """Return bounds of a value that follow from the facts."""
        if isinstance(value, int):
            return value, value
        found = self._found.get(value.terms)
        if found is None:
            terms, factor = _normal(value.terms)
            found = self._found[value.terms] = _times(factor, self._derive(terms))
        return value.constant + found[0], value.constant + found[1]

    def low(self, value: Word) -> Bound:
        return self.range(value)[0]

    def high(self, value: Word) -> Bound:
        return self.range(value)[1]

    def _derive(self, terms: Terms) -> tuple[Bound, Bound]:
        """Return bounds from the form itself, from its unknowns, and from one other form and the rest."""
        low, high = self._sum(terms)
        known = self.bounds.get(terms, (-inf, inf))
        low, high = max(low, known[0]), min(high, known[1])
        form = dict(terms)
        for other, bounds in self.bounds.items():
            times, rest = divmod(form.get(other[-1][0], 0), other[-1][1])
            if len(other) > 1 and len(terms) > 1 and times and not rest:
                left = add(Linear(0, terms), Linear(0, other), -times)
                below, above = (left, left) if isinstance(left, int) else self._sum(left.terms)
                least, greatest = _times(times, bounds)
                low, high = max(low, least + below), min(high, greatest + above)
        return low, high

    def _sum(self, terms: Terms) -> tuple[Bound, Bound]:
        low: Bound = 0
        high: Bound = 0
        for name, factor in terms:
            least, greatest = _times(factor, self.bounds.get(((name, 1),), (-inf, inf)))
            low, high = low + least, high + greatest
        return low, high

    def assume(self, value: Word, low: Bound, high: Bound) -> None:
        """Add low <= value <= high, with bounds rounded to integers. Raises Contradiction."""
        if isinstance(value, int):
            if not low <= value <= high:
                raise Contradiction
            return
        terms, factor = _normal(value.terms)
        least, greatest = _times(1 if factor > 0 else -1, (low - value.constant, high - value.constant))
        least = least if least in (inf, -inf) else -(-int(least) // abs(factor))
        greatest = greatest if greatest in (inf, -inf) else int(greatest) // abs(factor)
        before = self.range(Linear(0, terms))
        found = max(least, before[0]), min(greatest, before[1])
        if found[0] > found[1]:
            raise Contradiction
        if self.bounds.get(terms) != found:
            self.bounds[terms] = found
            self._found = {}

    def tighten(self) -> None:
        """Bound single unknowns by the forms in which they occur."""
        for terms, (low, high) in list(self.bounds.items()):
            for name, factor in terms if len(terms) > 1 else ():
                below, above = self._sum(tuple(term for term in terms if term[0] != name))
                self.assume(Linear(0, ((name, factor),)), low - above, high - below)

    def replace(self, name: str, by: Word) -> None:
        """Replace an unknown in all facts, and keep the bounds of the unknown as those of `by`."""
        old, self.bounds, self._found = self.bounds, {}, {}
        for terms, (low, high) in old.items():
            self.assume(replace(Linear(0, terms), name, by), low, high)
