"""Which way a conditional branch goes, for all values that are possible."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import inf

from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.linear import Address, Bound, Linear, Word, subtract
from gfsmith.prove.machine.state import Alignment, Difference, Flags, Known, State, Unclear, difference_flags
from gfsmith.prove.verdict import Refutation


class Condition(Enum):
    """What a branch asks of left - right: unsigned, equal or not, signed, and the sign of the result."""

    BELOW = "below"
    NOT_BELOW = "not below"
    NOT_ABOVE = "not above"
    ABOVE = "above"
    EQUAL = "equal"
    NOT_EQUAL = "not equal"
    LESS = "less"
    NOT_LESS = "not less"
    NOT_GREATER = "not greater"
    GREATER = "greater"
    NEGATIVE = "negative"
    NOT_NEGATIVE = "not negative"


#: condition -> bounds of left - right where it holds.
_RANGES: dict[Condition, tuple[Bound, Bound]] = {
    Condition.BELOW: (-inf, -1),
    Condition.NOT_BELOW: (0, inf),
    Condition.NOT_ABOVE: (-inf, 0),
    Condition.ABOVE: (1, inf),
    Condition.EQUAL: (0, 0),
    Condition.NOT_EQUAL: (0, 0),
    Condition.LESS: (-inf, -1),
    Condition.NOT_LESS: (0, inf),
    Condition.NOT_GREATER: (-inf, 0),
    Condition.GREATER: (1, inf),
}
_SIGNED = frozenset({Condition.LESS, Condition.NOT_LESS, Condition.NOT_GREATER, Condition.GREATER})


@dataclass(frozen=True, slots=True)
class Split:
    """A branch that goes both ways: bounds of `value` if it is taken and if it is not."""

    value: Linear
    taken: tuple[Bound, Bound]
    other: tuple[Bound, Bound]


def decide(state: State, flags: Flags, condition: Condition) -> bool | Split | Alignment:
    """True, False, or how it depends. Raises Unsupported for what cannot be told, Refutation for a
    branch on undefined flags."""
    if isinstance(flags, Unclear):
        raise Unsupported("a branch on flags that differ from turn to turn of a loop")
    if isinstance(flags, Alignment):
        if condition not in (Condition.EQUAL, Condition.NOT_EQUAL):
            raise Unsupported("a branch on the sign of an address")
        return flags
    if isinstance(flags, Difference):
        if not isinstance(flags.left, int) or not isinstance(flags.right, int):
            return _difference(state, flags, condition)
        flags = difference_flags(flags)
    return _evaluate(flags, condition)


def _difference(state: State, flags: Difference, condition: Condition) -> bool | Split:
    if condition not in _RANGES:
        raise Unsupported(f"a branch on {condition.value} on unknown values")
    if flags.summed and condition not in _SIGNED:
        raise Unsupported(f"a branch on {condition.value} after an addition")
    value = subtract(flags.left, flags.right)
    _check_no_wrap(state, flags, value, condition in _SIGNED)
    bounds, negate = _RANGES[condition], condition == Condition.NOT_EQUAL
    low, high = state.facts.range(value)
    if bounds[0] <= low and high <= bounds[1]:
        return not negate
    if high < bounds[0] or low > bounds[1]:
        return negate
    assert isinstance(value, Linear)
    if bounds == (0, 0):
        return _split_zero(value, low, high, negate)
    other = (bounds[1] + 1, inf) if bounds[0] == -inf else (-inf, bounds[0] - 1)
    return Split(value, bounds, other)


def _split_zero(value: Linear, low: Bound, high: Bound, negate: bool) -> Split:
    if low == 0:
        other: tuple[Bound, Bound] = (1, inf)
    elif high == 0:
        other = (-inf, -1)
    else:
        raise Unsupported(f"{value} = 0, where it may be on both sides of 0")
    zero: tuple[Bound, Bound] = (0, 0)
    return Split(value, other, zero) if negate else Split(value, zero, other)


def _check_no_wrap(state: State, flags: Difference, value: Word, signed: bool) -> None:
    """Both sides are machine words as they stand, or addresses within one region."""
    if _in_one_region(flags, value):
        return
    limit = 1 << 8 * flags.size - signed
    left, right, gap = (state.facts.range(x) for x in (flags.left, flags.right, value))
    sides = (
        (flags.left, max(left[0], right[0] + gap[0]), min(left[1], right[1] + gap[1])),
        (flags.right, max(right[0], left[0] - gap[1]), min(right[1], left[1] - gap[0])),
    )
    for side, low, high in sides:
        if low < (-limit if signed else 0) or high >= limit:
            raise Unsupported(f"{side} may wrap around in a comparison")


def _in_one_region(flags: Difference, value: Word) -> bool:
    def addressed(word: Word) -> bool:
        return isinstance(word, Linear) and any(isinstance(s, Address) for s, _ in word.terms)

    return addressed(flags.left) and addressed(flags.right) and not addressed(value)


def _evaluate(flags: Known, condition: Condition) -> bool:
    needed: dict[Condition, bool | None] = {
        Condition.BELOW: flags.cf,
        Condition.NOT_BELOW: _not(flags.cf),
        Condition.EQUAL: flags.zf,
        Condition.NOT_EQUAL: _not(flags.zf),
        Condition.NEGATIVE: flags.sf,
        Condition.NOT_NEGATIVE: _not(flags.sf),
        Condition.NOT_ABOVE: _or(flags.cf, flags.zf),
        Condition.ABOVE: _not(_or(flags.cf, flags.zf)),
        Condition.LESS: _differ(flags.sf, flags.of),
        Condition.NOT_LESS: _not(_differ(flags.sf, flags.of)),
        Condition.NOT_GREATER: _or(flags.zf, _differ(flags.sf, flags.of)),
        Condition.GREATER: _not(_or(flags.zf, _differ(flags.sf, flags.of))),
    }
    result = needed[condition]
    if result is None:
        raise Refutation("a branch depends on flags that are undefined or hold data")
    return result


def _not(value: bool | None) -> bool | None:
    return None if value is None else not value


def _or(left: bool | None, right: bool | None) -> bool | None:
    return None if left is None or right is None else left or right


def _differ(left: bool | None, right: bool | None) -> bool | None:
    return None if left is None or right is None else left != right
