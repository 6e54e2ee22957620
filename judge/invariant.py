"""The state at any iteration of a loop, from its first state and the certificate's claims.

A claim is about one part of the state and its change with the iteration t: a number or an offset grows by
the same amount, a vector gains the products of the next sources, or the part is not known. All other parts
stay as they are. With t = 0 the claims give the first state; Loop.check shows that the state at the end of an
iteration is the one with t + 1. So the state holds for every t, and the loop ends, because the value of its
branch moves towards a bound.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from judge.decode import MASKS
from judge.forms import Run, Runs, cut, ended, junk, merge, run_of, together, xor
from judge.integers import Bound, Linear, Pointer, Word, add, number, require, unknown, whole, word
from judge.memory import Compared, Data, LowBits, State, Value, Written


def bounds_of(data: Any) -> tuple[Bound, Bound]:
    """Return bounds from plain data, in which None is no bound."""
    low, high = data
    return -inf if low is None else whole(low), inf if high is None else whole(high)


def _grown(value: Value, step: Any, t: Word) -> Value:
    """Return a number or address that grows by `step` with each iteration."""
    if isinstance(value, Pointer):
        return Pointer(value.region, add(value.offset, t, whole(step)))
    return add(number(value), t, whole(step))


@dataclass(frozen=True, slots=True)
class Loop:
    """state: at iteration `name`, by claims about the first state. bounds: of the branch's value.
    ends: whether the value reaches the end of the side that continues."""

    first: State
    state: State
    claims: Any
    name: str
    bounds: tuple[Bound, Bound]
    ends: bool = False

    def along(self, value: Linear, bounds: tuple[Bound, Bound]) -> Loop:
        """Return the loop on one side of its branch."""
        factor = dict(value.terms).get(self.name, 0)
        ends = (factor < 0 and bounds[0] > -inf) or (factor > 0 and bounds[1] < inf)
        return replace(self, ends=ends)

    def check(self, end: State, value: Word) -> None:
        """Raise Rejected unless `end` is the state at the next iteration."""
        require(self.ends, "a loop that may not end")
        low, high = end.facts.range(value)
        again = self.bounds[0] <= low and high <= self.bounds[1]
        require(again, "the bounds of a loop's counter do not hold again")
        want = _at(self.first, self.claims, unknown(self.name), end)
        wrong: list[object] = [name for name, found in want.gpr.items() if end.gpr[name] != found]
        wrong += [n for n, runs in enumerate(want.vectors) if end.vectors[n] != runs]
        wrong += [place for place, slot in want.slots.items() if end.slots.get(place) != slot]
        require(not wrong, "the registers or slots {} differ from the invariant", wrong)
        same = all(getattr(want, p) == getattr(end, p) for p in ("flags", "written", "complete", "floor"))
        fenced = (want.dirty or not end.dirty) and (want.unfenced or not end.unfenced)
        require(same and fenced, "flags or written bytes differ from the invariant")


def begin(first: State, data: Any, value: Word, names: set[str]) -> Loop:
    """Return a loop at an unknown iteration, from the state at its first one, where the branch compares
    `value`. data: name of the iteration, bounds, and claims. names: those in use. Raises Rejected."""
    name, bounds, claims = data
    new = isinstance(name, str) and re.fullmatch(r"t[0-9]+", name) is not None and name not in names
    require(new, "{} is no new name of an iteration", name)
    names.add(name)
    kept = [n not in claims["masks"] and isinstance(first.gpr[mask], LowBits) for n, mask in enumerate(MASKS)]
    vague = {mask: None for mask, keeps in zip(MASKS, kept, strict=True) if not keeps}
    claims = claims | {"gpr": claims["gpr"] | vague}
    low, high = bounds_of(bounds)
    least, greatest = first.facts.range(value)
    holds = low <= least and greatest <= high
    require(holds, "the bounds of a loop's counter do not hold at its first iteration")
    t = unknown(name)
    state = _at(first, claims, t)
    state.facts.assume(t, 0, inf)
    left, right = map(whole, claims["flags"])
    state.facts.assume(add(value, t, left - right), low, high)
    return Loop(first, state, claims, name, (low, high))


def _at(first: State, claims: Any, t: Linear, end: State | None = None) -> State:
    """Return the state at iteration t. end: or at the one after it, with the parts of this state of which
    nothing is claimed."""
    state = first.copy()
    after = t if end is None else add(t, 1)
    for register, step in claims["gpr"].items():
        vague = Data(junk(8)) if end is None else end.gpr[register]
        state.gpr[register] = vague if step is None else _grown(first.gpr[register], step, after)
    for text, claim in claims["vectors"].items():
        n = int(text)
        runs = junk(64) if end is None else end.vectors[n]
        state.vectors[n] = runs if claim is None else _summed(first, n, claim, t, end is not None)
    for place in map(word, claims["slots"]):
        _, length = first.slots[place]
        state.slots[place] = end.slots.get(place) if end else (Data(junk(length)), length)  # type: ignore[assignment]
    state.complete = add(first.complete, after, whole(claims["complete"]))
    for data, step in claims["written"]:
        prefix, pieces = first.written[word(data)]
        state.written[word(data)] = Written(add(prefix, after, whole(step)), pieces)
    assert isinstance(first.flags, Compared)  # the branch of the loop compares
    state.flags = Compared(*map(_grown, first.flags, claims["flags"], [after] * 2))
    state.dirty = first.dirty or claims["dirty"] is True
    state.unfenced = first.unfenced or claims["unfenced"] is True
    return state


def _summed(first: State, n: int, claim: Any, t: Linear, next_: bool) -> Runs:
    """Return vector register n at iteration t, or at the one after it. claim: for each stretch of it a number
    of bytes that stay, or [bytes, output, source, count, start, end]: the products of an output and the
    sources before `source` become those before source + t * count, from byte `start` of the shards on; end:
    with their ends."""
    out: list[Run] = []
    place, spec = 0, first.spec
    for part in [*claim, 64]:
        stays = not isinstance(part, list)
        length = min(whole(part if stays else part[0]), 64 - place)
        require(length >= 0, "a stretch of {} bytes", length)
        for bytes_, start, one in cut(first.vectors[n], place, place + length):
            if not stays:
                output, source, count = whole(part[1]), word(part[2]), whole(part[3])
                require(count >= 0 and first.facts.low(source) >= 0, "sums of sources before the first")
                now = add(source, t, count)
                old, new = spec.total(output, source), spec.total(output, now)
                new = spec.gained(new, output, now, count) if next_ else new
                start = together(start, word(part[4]))
                one = xor(one, xor(ended(old), ended(new)) if part[5] else xor(old, new))
            out.append(run_of(bytes_, start, one))
        place += length
    return merge(out)
