"""Integers that a kernel computes with: constants plus multiples of unknowns, and facts about them.

An unknown is a parameter (len, k), a loop counter, the entry value of a register, or the address of a region.
Machine words are treated as integers. In comparisons, where wrap-around would matter, the facts from the
taken branches must bound them to [0, 2^64).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd, inf
from typing import TypeAlias

Symbol: TypeAlias = "str | Address"
Terms = tuple[tuple[Symbol, int], ...]
Bound = int | float


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a region's first byte: a shard, an array, the stack, or a region that may only be
    prefetched. `index` numbers shards and regions for prefetching."""

    kind: str
    index: Word = 0

    def __str__(self) -> str:
        return (
            f"&{self.kind}[{self.index}]"
            if self.kind in ("src", "dst", "ahead", "image")
            else f"&{self.kind}"
        )


class Linear:
    """constant + sum of coefficient * symbol, with at least one term, sorted by name.

    Immutable by convention: a dataclass takes twice as long to make, and proofs make millions.
    """

    __slots__ = ("_hash", "constant", "terms")

    def __init__(self, constant: int, terms: Terms) -> None:
        self.constant = constant
        self.terms = terms
        self._hash: int | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Linear) and self.constant == other.constant and self.terms == other.terms

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((self.constant, self.terms))
        return self._hash

    def __repr__(self) -> str:
        return f"Linear({self.constant}, {self.terms})"

    def __str__(self) -> str:
        parts = [str(s) if c == 1 else f"{c}*{s}" for s, c in self.terms]
        return "+".join(parts) + (f"{self.constant:+d}" if self.constant else "")


Word: TypeAlias = int | Linear


def plain(value: Word) -> int | list[object]:
    """Return a number, or [constant, [[name, factor], ...]], as certificates have it."""
    if isinstance(value, int):
        return value
    return [value.constant, [[str(name), factor] for name, factor in value.terms]]


def symbol(name: Symbol) -> Linear:
    return Linear(0, ((name, 1),))


def make(constant: int, terms: Mapping[Symbol, int]) -> Word:
    left = [(s, c) for s, c in terms.items() if c]
    if not left:
        return constant
    if len(left) > 1:
        left.sort(key=lambda item: str(item[0]))
    return Linear(constant, tuple(left))


def add(left: Word, right: Word) -> Word:
    if isinstance(left, int):
        if isinstance(right, int):
            return left + right
        return Linear(left + right.constant, right.terms)
    if isinstance(right, int):
        return Linear(left.constant + right, left.terms)
    terms = dict(left.terms)
    for s, c in right.terms:
        terms[s] = terms.get(s, 0) + c
    return make(left.constant + right.constant, terms)


def scale(value: Word, factor: int) -> Word:
    if isinstance(value, int):
        return value * factor
    return make(value.constant * factor, {s: c * factor for s, c in value.terms})


def subtract(left: Word, right: Word) -> Word:
    if isinstance(right, int):
        return left - right if isinstance(left, int) else Linear(left.constant - right, left.terms)
    if isinstance(left, int):
        return Linear(left - right.constant, tuple((s, -c) for s, c in right.terms))
    if left.terms == right.terms:
        return left.constant - right.constant
    terms = dict(left.terms)
    for s, c in right.terms:
        terms[s] = terms.get(s, 0) - c
    return make(left.constant - right.constant, terms)


def divide(value: Word, divisor: int) -> Word | None:
    """Return value / divisor if the division is exact term by term, else None."""
    if isinstance(value, int):
        return value // divisor if value % divisor == 0 else None
    if value.constant % divisor or any(c % divisor for _, c in value.terms):
        return None
    return make(value.constant // divisor, {s: c // divisor for s, c in value.terms})


def substitute(value: Word, name: Symbol, by: Word) -> Word:
    """Return `value` with every occurrence of a symbol replaced, also inside addresses."""
    if isinstance(value, int):
        return value
    result: Word = value.constant
    for s, c in value.terms:
        if s == name:
            result = add(result, scale(by, c))
        elif isinstance(s, Address) and not isinstance(s.index, int):
            moved = Address(s.kind, substitute(s.index, name, by))
            result = add(result, Linear(0, ((moved, c),)))
        else:
            result = add(result, Linear(0, ((s, c),)))
    return result


def base(value: Word) -> tuple[Address, Word] | None:
    """Return the region of an address and the offset in it; None for a plain number."""
    if isinstance(value, int):
        return None
    found = [s for s, c in value.terms if isinstance(s, Address) and c == 1]
    if len(found) != 1:
        return None
    rest = make(value.constant, {s: c for s, c in value.terms if s != found[0]})
    return found[0], rest


#: The number of bytes of len that a function ignores, below the granule. So a fact about a multiple of the
#: granule plus this number also bounds the multiple.
REST = "rest"

#: The kind of the OR of the addresses src[0] to src[index - 1] (alignment.py).
EVERY = "every"

#: Unknowns that a kernel may save and restore, and on which nothing that it does may depend.
PRIVATE = ("entry_", "return_address")


def private(value: Word) -> str | None:
    """Return a callee-saved register or the return address that a number depends on, if there is one."""
    if isinstance(value, int):
        return None
    return next((s for s, _ in value.terms if isinstance(s, str) and s.startswith(PRIVATE)), None)


def _normal(terms: Terms) -> tuple[Terms, int]:
    """Return terms divided by their common factor, with a positive first coefficient, and that factor."""
    factor = 0
    for _, c in terms:
        factor = gcd(factor, c)
    if terms[0][1] < 0:
        factor = -factor
    return tuple((s, c // factor) for s, c in terms), factor


class Contradiction(Exception):
    """A fact that cannot hold: the path on which it was found does not exist."""


class Facts:
    """Bounds of linear forms, established by the contract and by branches taken."""

    __slots__ = ("_ranges", "bounds")

    def __init__(self, bounds: dict[Terms, tuple[Bound, Bound]] | None = None) -> None:
        self.bounds = bounds or {}
        self._ranges: dict[Terms, tuple[Bound, Bound]] = {}  # derived from the current `bounds`

    def copy(self) -> Facts:
        facts = Facts(dict(self.bounds))
        facts._ranges = self._ranges  # until either gets a new fact, and a new dictionary
        return facts

    def range(self, value: Word) -> tuple[Bound, Bound]:
        """Return the least and the greatest possible value."""
        if isinstance(value, int):
            return value, value
        found = self._ranges.get(value.terms)
        if found is None:
            found = self._ranges[value.terms] = self._range(value.terms)
        return value.constant + found[0], value.constant + found[1]

    def _range(self, value: Terms) -> tuple[Bound, Bound]:
        """Return the range of a form without its constant."""
        terms, factor = _normal(value)
        known = self.bounds.get(terms)
        low, high = self._sum(terms)
        if known is not None:
            low, high = max(low, known[0]), min(high, known[1])
        if len(terms) > 1:
            low, high = self._combined(terms, low, high)
        if factor < 0:
            low, high = high, low
        return factor * low, factor * high

    def _combined(self, terms: Terms, low: Bound, high: Bound) -> tuple[Bound, Bound]:
        """Return bounds from a multiple of one known form and from the remaining single symbols."""
        form = dict(terms)
        for other, ends in self.bounds.items():
            symbol, factor = other[-1]
            times, rest = divmod(form.get(symbol, 0), factor)
            if len(other) == 1 or rest or not times:
                continue
            left = subtract(Linear(0, terms), Linear(0, tuple((s, c * times) for s, c in other)))
            found = self._sum(left.terms) if isinstance(left, Linear) else (left, left)
            bounds = times * ends[0], times * ends[1]
            low, high = max(low, min(bounds) + found[0]), min(high, max(bounds) + found[1])
        return low, high

    def _sum(self, terms: Terms) -> tuple[Bound, Bound]:
        """Return bounds from the bounds of the single symbols."""
        low: Bound = 0
        high: Bound = 0
        for s, c in terms:
            own = self.bounds.get(((s, 1),), (0, inf) if isinstance(s, str) else (-inf, inf))
            ends = (c * own[0], c * own[1])
            low, high = low + min(ends), high + max(ends)
        return low, high

    def assume(self, value: Word, low: Bound, high: Bound) -> None:
        """Assume low <= value <= high. Raises Contradiction if that is impossible."""
        if isinstance(value, int):
            if not low <= value <= high:
                raise Contradiction
            return
        terms, factor = _normal(value.terms)
        low, high = low - value.constant, high - value.constant
        if factor < 0:
            low, high, factor = -high, -low, -factor
        low = low if low == -inf else -(-int(low) // factor)
        high = high if high == inf else int(high) // factor
        before = self.range(Linear(0, terms))
        low, high = max(low, before[0]), min(high, before[1])
        if low > high:
            raise Contradiction
        if self.bounds.get(terms) != (low, high):
            self.bounds[terms] = (low, high)
            self._ranges = {}
            self._assume_without_rest(terms, low, high)

    def _assume_without_rest(self, terms: Terms, low: Bound, high: Bound) -> None:
        """Assume the bounds of the other terms of a form that contains REST."""
        rest = tuple(term for term in terms if term[0] == REST)
        if rest and len(terms) > 1:
            ends = self._sum(rest)
            others = Linear(0, tuple(term for term in terms if term[0] != REST))
            self.assume(others, low - ends[1], high - ends[0])

    def tighten(self) -> None:
        """Tighten bounds of single symbols by those of the forms that contain them."""
        for terms, (low, high) in list(self.bounds.items()):
            if len(terms) == 1:
                continue
            for s, c in terms:
                others = self._sum(tuple(term for term in terms if term[0] != s))
                self.assume(Linear(0, ((s, c),)), low - others[1], high - others[0])

    def substitute(self, name: Symbol, by: Word) -> None:
        """Replace a symbol in all facts."""
        old, self.bounds, self._ranges = self.bounds, {}, {}
        for terms, (low, high) in old.items():
            self.assume(substitute(Linear(0, terms), name, by), low, high)
