"""The direction of a branch, by the facts and the values that were compared."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from judge.integers import SPAN, Bound, Linear, Pointer, Word, number, require, subtract
from judge.memory import PAGE, Compared, State, Value, extent

#: Condition -> the values of left - right with which it holds.
_TAKEN: dict[str, tuple[Bound, Bound]] = {"jb": (-inf, -1), "jae": (0, inf), "jbe": (-inf, 0), "ja": (1, inf)}


class Split(NamedTuple):
    """The values for which a branch is taken, and for which it is not."""

    value: Linear
    taken: tuple[Bound, Bound]
    other: tuple[Bound, Bound]


def decide(state: State, name: str) -> bool | Split:
    """Return whether a branch is taken, or the values for which it is."""
    require(isinstance(state.flags, Compared), "a branch on flags that are not known")
    value = _difference(state, *state.flags)  # type: ignore[misc]
    low, high = state.facts.range(value)
    if name in _TAKEN:
        taken = _TAKEN[name]
        other = (taken[1] + 1, inf) if taken[0] == -inf else (-inf, taken[0] - 1)
    else:
        require(low >= 0 or high <= 0, "{} may be on both sides of 0", value)
        rest = (1, inf) if low >= 0 else (-inf, -1)
        taken, other = ((0, 0), rest) if name == "je" else (rest, (0, 0))
    for answer, (least, most) in ((True, taken), (False, other)):
        if least <= low and high <= most:
            return answer
    # An integer has an answer above.
    return Split(value, taken, other)  # type: ignore[arg-type]


def _difference(state: State, left: Value, right: Value) -> Word:
    """Return the difference of two numbers, or of two addresses of a region, without wrap-around."""
    facts = state.facts
    if isinstance(left, Pointer) and isinstance(right, Pointer) and left.region == right.region:
        for region, offset in (left, right):
            beyond = facts.low(subtract(extent(state, region), offset)) <= -PAGE
            require(facts.low(offset) >= 0 and not beyond, "an address may wrap around in a comparison")
        return subtract(left.offset, right.offset)
    left, right = number(left), number(right)
    if isinstance(left, int) and isinstance(right, int):
        return left % SPAN - right % SPAN
    value = subtract(left, right)
    one, two, gap = facts.range(left), facts.range(right), facts.range(value)
    lows = max(one[0], two[0] + gap[0]), max(two[0], one[0] - gap[1])
    highs = min(one[1], two[1] + gap[1]), min(two[1], one[1] - gap[0])
    require(min(lows) >= 0 and max(highs) < SPAN, "{} or {} may wrap around in a comparison", left, right)
    return value
