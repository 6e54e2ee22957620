"""The state at any iteration of a loop, from its first state and the certificate's claims.

A claim is about one part of the state and its change with the iteration t: a number or an offset grows by
the same amount, a vector gains the products of the next sources, or the part is not known. All other parts
stay as they are. With t = 0 the claims give the first state; Loop.check shows that the state at the end of an
iteration is the one with t + 1. So the state holds for every t, and the loop ends, because the value of its
branch moves towards a bound.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from dataclasses import replace as changed
from math import inf
from typing import Any

from judge import forms
from judge.forms import Run, Runs, cut, expand, junk, merge, moved, run_of, together, xor
from judge.integers import SPAN, Bound, Linear, Pointer, Rejected, Word, add, scale, unknown, word
from judge.memory import Compared, Data, Register, State, Value, Written, alike

_NAME = re.compile(r"t[0-9]+")


def _grown(value: Value, by: Word) -> Value:
    if isinstance(value, Pointer):
        return Pointer(value.region, add(value.offset, by))
    if not isinstance(value, int | Linear):
        raise Rejected(f"{value} grows in a loop")
    return add(value, by)


@dataclass(frozen=True, slots=True)
class Sum:
    """A stretch of a vector with the products of output `output` and the sources before `first` + t *
    `count`, from byte `start` of the shards on. end: with the ends of the sources."""

    length: int
    output: int
    first: Word
    count: int
    start: Word
    end: bool


@dataclass(frozen=True, slots=True)
class Loop:
    """state: at iteration `name`. vague: general registers, vectors and slots of which nothing is claimed.
    sums: vector -> its stretches (a number: bytes that stay). low, high: bounds of the branch's value.
    ends: whether the value reaches the end of the side that continues."""

    state: State
    name: str
    vague: frozenset[object]
    sums: dict[int, list[Sum | int]]
    low: Bound
    high: Bound
    ends: bool = False

    def along(self, value: Linear, bounds: tuple[Bound, Bound]) -> Loop:
        """Return the loop on one side of its branch."""
        factor = dict(value.terms).get(self.name, 0)
        ends = (factor < 0 and bounds[0] > -inf) or (factor > 0 and bounds[1] < inf)
        return changed(self, ends=ends)

    def check(self, end: State, value: Word) -> None:
        """Raise Rejected unless `end` is the state at the next iteration."""
        if not self.ends:
            raise Rejected("a loop that may not end")
        low, high = end.facts.range(value)
        if low < self.low or high > self.high:
            raise Rejected("the bounds of a loop's counter do not hold again")
        start, name, following = self.state, self.name, add(unknown(self.name), 1)
        for register, value_ in start.gpr.items():
            if register not in self.vague and not _same(end.gpr[register], moved(value_, name, following)):
                raise Rejected(f"{register} differs from the invariant")
        for number in range(len(start.vectors)):
            if number not in self.vague and not alike(end.vectors[number], self._next(number)):
                raise Rejected(f"vector register {number} differs from the invariant")
        self._check_rest(end, following)

    def _next(self, number: int) -> Register:
        """Return a vector register at the next iteration."""
        vector, width, cleared = self.state.vectors[number]
        parts = self.sums.get(number)
        following = add(unknown(self.name), 1)
        if parts is None:
            return Register(moved(vector, self.name, following), width, cleared)
        return Register(_summed(self.state, expand(vector, width), parts, self.name, True), width, cleared)

    def _check_rest(self, end: State, following: Word) -> None:
        start, name = self.state, self.name
        for place, slot in start.slots.items():
            if place not in self.vague and end.slots.get(place) != slot:
                raise Rejected("a slot of the frame differs from the invariant")
        same = (
            moved(start.flags, name, following) == end.flags
            and moved(start.written, name, following) == end.written
            and moved(start.complete, name, following) == end.complete
            and (start.dirty or not end.dirty)
            and (start.unfenced or not end.unfenced)
            and start.floor == end.floor
            and all(a is None or a == b for a, b in zip(start.masks, end.masks, strict=True))
        )
        if not same:
            raise Rejected("flags, masks or written bytes differ from the invariant")


def _same(value: Value, other: Value) -> bool:
    both = isinstance(value, int) and isinstance(other, int)
    return value == other or (both and (value - other) % SPAN == 0)  # type: ignore[operator]


def begin(first: State, name: Any, bounds: Any, claims: Any, value: Word, names: set[str]) -> Loop:
    """Return a loop at an unknown iteration, from the state at its first one, where the branch compares
    `value`. names: those in use. Raises Rejected."""
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name in names:
        raise Rejected(f"{name} is no new name of an iteration")
    names.add(name)
    low, high = (
        limit if number is None else number for number, limit in zip(bounds, (-inf, inf), strict=True)
    )
    least, greatest = first.facts.range(value)
    if least < low or greatest > high:
        raise Rejected("the bounds of a loop's counter do not hold at its first iteration")
    t, state = unknown(name), first.copy()
    vague: set[object] = set()
    for register, step in claims["gpr"].items():
        if step is None:
            vague.add(register)
            state.gpr[register] = Data(junk(8))
        else:
            state.gpr[register] = _grown(state.gpr[register], scale(t, step))
    sums = _vectors(state, claims["vectors"], name, vague)
    for place in map(word, claims["slots"]):
        vague.add(place)
        length = state.slots[place][1]
        state.slots[place] = Data(junk(length)), length
    state.masks = [None if n in claims["masks"] else mask for n, mask in enumerate(state.masks)]
    _memory(state, claims, t)
    state.facts.assume(t, 0, inf)
    assert isinstance(state.flags, Compared)
    left, right = (_grown(side, scale(t, n)) for side, n in zip(state.flags, claims["flags"], strict=True))
    state.flags = Compared(left, right)
    state.facts.assume(add(value, scale(t, claims["flags"][0] - claims["flags"][1])), low, high)
    return Loop(state, name, frozenset(vague), sums, low, high)


def _vectors(state: State, claims: Any, name: str, vague: set[object]) -> dict[int, list[Sum | int]]:
    """Set the vector registers at iteration `name`. Returns the stretches of sums."""
    found: dict[int, list[Sum | int]] = {}
    for text, claim in claims.items():
        number = int(text)
        vector, width, cleared = state.vectors[number]
        if claim is None:
            vague.add(number)
            state.vectors[number] = Register(junk(64), 64, False)
            continue
        parts = [
            p if isinstance(p, int) else Sum(p[0], p[1], word(p[2]), p[3], word(p[4]), p[5]) for p in claim
        ]
        runs = _summed(state, expand(vector, width), parts, name, False)
        state.vectors[number] = Register(runs, width, cleared)
        found[number] = parts
    return found


def _summed(state: State, runs: Runs, parts: list[Sum | int], name: str, again: bool) -> Runs:
    """Return a vector with its sums replaced: those before the first source become those at iteration
    `name`, or, `again`, these become those at the next one."""
    out: list[Run] = []
    position, end = 0, forms.size(runs)
    for part in parts:
        length = min(part if isinstance(part, int) else part.length, end - position)
        for size, start, one in cut(runs, position, position + length):
            if isinstance(part, Sum):
                start = together(start, part.start)
                one = _step(state, part, one, unknown(name) if again else None, name)
            out.append(run_of(size, start, one))
        position += length
    if position < end:
        raise Rejected("a claim about a part of a vector register only")
    return merge(out)


def _step(state: State, part: Sum, one: forms.Body, at: Word | None, name: str) -> forms.Body:
    spec = state.spec
    now = add(part.first, scale(unknown(name), part.count))
    old = spec.total(part.output, part.first if at is None else now)
    new = spec.total(part.output, now) if at is None else spec.gained(old, part.output, now, part.count)
    if part.end:
        old, new = forms.ended(old), forms.ended(new)
    return xor(xor(one, old), new)


def _memory(state: State, claims: Any, t: Linear) -> None:
    state.complete = add(state.complete, scale(t, claims["complete"]))
    for data, step in claims["written"]:
        index = word(data)
        prefix, pieces = state.written[index]
        state.written[index] = Written(add(prefix, scale(t, step)), pieces)
    state.dirty = state.dirty or claims["dirty"] is True
    state.unfenced = state.unfenced or claims["unfenced"] is True
