"""Decision of a conditional branch for all possible values."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.linear import (
    EVERY,
    REST,
    Address,
    Bound,
    Linear,
    Word,
    base,
    private,
    subtract,
    symbol,
)
from gfsmith.prove.machine.state import (
    Alignment,
    Condition,
    Difference,
    Flags,
    Known,
    State,
    Unclear,
    difference_flags,
)
from gfsmith.prove.verdict import Refutation

_PAGE = 4096
_WIDE = 8  #: bytes of an address in an address space that no region crosses in the middle
#: Regions that arguments point to.
ARGUMENTS = frozenset({"src", "dst", "srcs", "dsts", "coeffs", "ahead", "low", "high", EVERY})


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
    Condition.NEGATIVE: (-inf, -1),
    Condition.NOT_NEGATIVE: (0, inf),
}
#: Those that only ask whether left - right is negative.
_BELOW_ZERO = ((-inf, -1), (0, inf))
_SIGNS = frozenset({Condition.NEGATIVE, Condition.NOT_NEGATIVE})
_EQUALITY = frozenset({Condition.EQUAL, Condition.NOT_EQUAL})
_SIGNED = frozenset({Condition.LESS, Condition.NOT_LESS, Condition.NOT_GREATER, Condition.GREATER})


class Choice(Exception):
    """An effect that depends on the unknown sign of `value`."""

    def __init__(self, value: Linear) -> None:
        super().__init__(f"{value} may be negative or not")
        self.value = value


@dataclass(frozen=True, slots=True)
class Split:
    """A branch whose both sides are possible: bounds of `value` if it is taken and if it is not."""

    value: Linear
    taken: tuple[Bound, Bound]
    other: tuple[Bound, Bound]

    def choice(self) -> Choice:
        """Return the same as a choice by a sign: the lower side ends at -1 or at 0."""
        lower = min(self.taken, self.other)
        moved = subtract(self.value, int(lower[1]) + 1)
        assert isinstance(moved, Linear)
        return Choice(moved)


def decide(state: State, flags: Flags, condition: Condition) -> bool | Split | Alignment:
    """Return whether the condition holds: True, False, or the values for which it does. Raises Unsupported if
    the answer cannot be determined, Refutation for a branch on undefined flags."""
    _check_public(flags)
    if isinstance(flags, Unclear):
        raise Unsupported("a branch on flags that differ between the iterations of a loop")
    if isinstance(flags, Alignment):
        if condition not in (Condition.EQUAL, Condition.NOT_EQUAL):
            raise Unsupported("a branch on the sign of an address")
        return flags
    if isinstance(flags, Difference):
        if flags.logical and condition not in (Condition.EQUAL, Condition.NOT_EQUAL):
            raise Unsupported(f"a branch on {condition.value} after a logical operation")
        if not isinstance(flags.left, int) or not isinstance(flags.right, int):
            return _difference(state, flags, condition)
        flags = difference_flags(flags)
    return _evaluate(flags, condition)


def _check_public(flags: Flags) -> None:
    """Refute a branch on a callee-saved register, the return address or the position of the stack. These are
    no arguments, so the branch would reveal them by its time."""
    words: tuple[Word, ...] = ()
    if isinstance(flags, Difference):
        words = flags.left, flags.right
    elif isinstance(flags, Alignment):
        words = tuple(flags.addresses)
    for word in words:
        name = private(word)
        if name is not None:
            raise Refutation(f"a branch depends on {name}")
        place = base(word) if isinstance(flags, Alignment) else None
        if place is not None and place[0].kind not in ARGUMENTS:
            raise Refutation(f"a branch depends on the address {place[0]}")


def _difference(state: State, flags: Difference, condition: Condition) -> bool | Split:
    if flags.summed and condition not in _SIGNED | _SIGNS | _EQUALITY:
        raise Unsupported(f"a branch on {condition.value} after an addition")
    value = subtract(flags.left, flags.right)
    if condition in _SIGNS:
        _check_sign(state, flags, value)
    elif condition in _EQUALITY and _is_less_than_a_word(state, flags, value):
        pass  # the result, which is exact modulo the machine word, is 0 only if the value is
    elif flags.summed and condition in _EQUALITY:
        raise Unsupported(f"{value} may wrap around to 0, which decides a branch")
    else:
        _check_no_wrap(state, flags, value, condition in _SIGNED)
    bounds, negate = _RANGES[condition], condition == Condition.NOT_EQUAL
    if bounds in _BELOW_ZERO:
        value = _without_rest(state, value)
    low, high = state.facts.range(value)
    if bounds == (0, 0) and low < 0 < high:
        state.facts.tighten()
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


def _without_rest(state: State, value: Word) -> Word:
    """Return a number with the same sign: that of a multiple of the granule plus REST is the multiple's."""
    if not isinstance(value, Linear) or (REST, 1) not in value.terms:
        return value
    multiple = subtract(value, symbol(REST))
    granule = state.facts.range(symbol(REST))[1] + 1
    numbers = (
        [multiple] if isinstance(multiple, int) else [multiple.constant, *(c for _, c in multiple.terms)]
    )
    return value if any(number % granule for number in numbers) else multiple


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
    """Check that both sides are machine words without wrap-around, or addresses within one region. No region
    crosses the middle of a 64-bit address space, where signed addresses wrap around; in 32 bits a region may.
    """
    if _in_one_region(state, flags, value) and not (signed and flags.size < _WIDE):
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


def _check_sign(state: State, flags: Difference, value: Word) -> None:
    """Check that the top bit of a result, which is exact modulo the machine word, is the value's sign."""
    low, high = state.facts.range(value)
    half = 1 << 8 * flags.size - 1
    if low < -half or high >= half:
        raise Unsupported(f"{value} may wrap around, and its sign decides a branch")


def _is_less_than_a_word(state: State, flags: Difference, value: Word) -> bool:
    low, high = state.facts.range(value)
    return low > -(1 << 8 * flags.size) and high < 1 << 8 * flags.size


def _in_one_region(state: State, flags: Difference, value: Word) -> bool:
    """Return whether both sides are addresses in one region or less than a page behind it. These do not wrap
    around, since no system maps the last page of the address space."""
    if (
        flags.size != state.memory.pointer_bytes
        or isinstance(flags.left, int)
        or isinstance(flags.right, int)
    ):
        return False
    if isinstance(value, Linear) and any(isinstance(s, Address) for s, _ in value.terms):
        return False
    return all(_inside(state, word) for word in (flags.left, flags.right))


def _inside(state: State, word: Word) -> bool:
    place = base(word)
    if place is None:
        return False
    low, high = state.memory.extent(place[0])
    facts, offset = state.facts, place[1]
    return facts.range(subtract(offset, low))[0] >= 0 and facts.range(subtract(high, offset))[0] > -_PAGE


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
