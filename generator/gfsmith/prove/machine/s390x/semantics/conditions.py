"""The condition code, after the Principles of Operation, chapters 4 and 7.

The code is kept as the comparison that made it, so that a branch can be decided for all values at once.
"""

from __future__ import annotations

from dataclasses import dataclass

from gfsmith.prove.machine.branch import Split, decide
from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.linear import Linear, Word
from gfsmith.prove.machine.modular import signed
from gfsmith.prove.machine.state import UNDEFINED, Condition, Difference, Flags, Known, State


@dataclass(frozen=True, slots=True)
class Code(Difference):
    """The code that an instruction sets. equal, lower, higher: the possible codes where left is equal to,
    lower or higher than right, as a mask: 8 for code 0 to 1 for code 3. signed: of signed numbers."""

    equal: int = 8
    lower: int = 4
    higher: int = 2
    signed: bool = False


_CODE = "cc"
#: The outcomes for which a branch is taken: equal, lower, higher -> the condition, signed and unsigned.
_CONDITIONS = {
    (True, False, False): (Condition.EQUAL, Condition.EQUAL),
    (False, True, True): (Condition.NOT_EQUAL, Condition.NOT_EQUAL),
    (False, True, False): (Condition.LESS, Condition.BELOW),
    (True, False, True): (Condition.NOT_LESS, Condition.NOT_BELOW),
    (False, False, True): (Condition.GREATER, Condition.ABOVE),
    (True, True, False): (Condition.NOT_GREATER, Condition.NOT_ABOVE),
}


def test_code(state: State, mask: int) -> tuple[Flags, Condition]:
    """Return flags and the condition on them that holds exactly if the code is one of the mask."""
    return test(state.conditions.get(_CODE, UNDEFINED), mask)


def test(flags: Flags, mask: int) -> tuple[Flags, Condition]:
    """Return the same for given flags."""
    if not isinstance(flags, Code):
        raise Unsupported("a branch on a condition code that is not known")
    possible = (flags.equal, flags.lower, flags.higher)
    if any(codes & mask and codes & ~mask for codes in possible):
        raise Unsupported("a branch on one of several possible condition codes")
    taken = tuple(bool(codes & mask) for codes in possible)
    if all(taken) or not any(taken):
        return Known(None, taken[0], None, None), Condition.EQUAL
    return flags, _CONDITIONS[taken[0], taken[1], taken[2]][0 if flags.signed else 1]


def _set(state: State, flags: Flags) -> None:
    state.conditions[_CODE] = flags


def forget(state: State) -> None:
    """Make the code unknown."""
    _set(state, UNDEFINED)


def set_code(state: State, code: int) -> None:
    """Set a known code."""
    mask = 8 >> code
    _set(state, Code(0, 0, 8, equal=mask, lower=mask, higher=mask))


def comparison(left: Word, right: Word, size: int, is_signed: bool) -> Code:
    """Return the code of a comparison of numbers of `size` bytes."""
    first, second = (_nearest(side, size, is_signed) for side in (left, right))
    return Code(first, second, size, signed=is_signed)


def compare(state: State, left: Word, right: Word, size: int, is_signed: bool) -> None:
    _set(state, comparison(left, right, size, is_signed))


def _nearest(value: Word, size: int, is_signed: bool) -> Word:
    """Return a number in the range of the comparison."""
    if isinstance(value, Linear):
        return value
    return signed(value, size) if is_signed else value % (1 << 8 * size)


def set_sign(state: State, exact: Word, size: int) -> None:
    """Set the code of signed arithmetic by its exact result: 0, negative, positive, or an overflow."""
    half = 1 << 8 * size - 1
    low, high = state.facts.range(exact)
    if -half <= low and high < half:
        _set(state, Code(exact, 0, size, summed=isinstance(exact, Linear), signed=True))
    elif isinstance(exact, int):
        set_code(state, 3)
    else:
        forget(state)


def set_carry(state: State, before: Word, added: int) -> None:
    """Set the code of an addition of an unsigned number and a small signed one, modulo 2^64: 0 or 1 for a
    zero or other result without a carry, 2 or 3 with one."""
    if isinstance(before, int):
        exact = before % (1 << 64) + added % (1 << 64)
        set_code(state, 2 * (exact >> 64) + bool(exact % (1 << 64)))
        return
    low, high = state.facts.range(before)
    if added > 0 and low >= -(1 << 63) and high < 0:  # a number counted up to 0, where it carries
        total = Linear(before.constant + added, before.terms)
        _set(state, Code(total, 0, 8, summed=True, equal=2, lower=4, higher=1, signed=True))
    else:
        forget(state)


def set_tested(state: State, selected: Word, bits: int) -> None:
    """Set the code of a test of some bits by the number that the selected ones are, all others 0."""
    if isinstance(selected, int):
        highest = 1 << bits.bit_length() - 1 if bits else 0
        code = 0 if not selected else 3 if selected == bits else 2 if selected & highest else 1
        set_code(state, code)
        return
    other = 1 if not bits & bits - 1 else 7
    _set(state, Code(selected, 0, 8, logical=True, lower=other, higher=other))


def holds(state: State, mask: int) -> bool:
    """Return True if the code is one of the mask. Raises Choice or Unsupported if that is not decided."""
    decision = decide(state, *test_code(state, mask))
    if isinstance(decision, Split):
        raise decision.choice()
    if not isinstance(decision, bool):
        raise Unsupported("a choice by an unknown condition code")
    return decision
