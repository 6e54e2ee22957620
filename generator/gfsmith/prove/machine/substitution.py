"""Solving for a symbol: an unknown whose value has become known is replaced everywhere."""

from __future__ import annotations

from itertools import count
from math import gcd, inf

from gfsmith.prove.machine.branch import Choice
from gfsmith.prove.machine.contract import INDEX
from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.linear import (
    Contradiction,
    Linear,
    Word,
    add,
    divide,
    make,
    plain,
    private,
    scale,
    subtract,
    symbol,
)
from gfsmith.prove.machine.memory import Memory
from gfsmith.prove.machine.state import State

_SPAN = 1 << 64
_quotients = count()


def fix(state: State, value: Linear, number: int) -> None:
    """Solve value = number for one symbol, a loop's counter if there is one, and replace it everywhere.

    Raises Contradiction if there is no solution, Unsupported if none of the symbols can be isolated.
    """
    if (number - value.constant) % gcd(*(c for _, c in value.terms)):
        raise Contradiction
    symbols = [(s, c) for s, c in value.terms if isinstance(s, str)]
    if not symbols:
        raise Unsupported(f"{value} = {number} has nothing to solve for")
    factor = min(abs(c) for _, c in symbols)
    name, own = min(
        (item for item in symbols if abs(item[1]) == factor),
        key=lambda item: _age(str(item[0])),
    )
    others = subtract(subtract(value, number), Linear(0, ((name, own),)))
    by = divide(scale(others, -1 if own > 0 else 1), factor)
    if by is None:
        raise Unsupported(f"{value} = {number} cannot be solved for {name}")
    _replace(state, str(name), by)
    settle(state)


def settle(state: State) -> None:
    """Replace every symbol of which only one value is left, except a contract's index: the contract describes
    the result in terms of it."""
    state.facts.tighten()
    while True:
        single = (
            terms[0][0] for terms, (low, high) in state.facts.bounds.items() if low == high and not terms[1:]
        )
        name = next((s for s in single if isinstance(s, str) and s != INDEX), None)
        if name is None:
            return
        _replace(state, name, int(state.facts.range(symbol(name))[0]))


def relate(state: State, value: Linear) -> None:
    """Replace the counters that follow from the facts about `value` and about another form.

    If 0 <= n - 128 * t < 128 and 0 <= n - 128 * u < 128, then 128 * (t - u) lies between -127 and 127, so t =
    u: a loop that runs again for the same length has the same number of iterations. Raises Contradiction.
    """
    terms = value.terms
    low, high = state.facts.range(Linear(0, terms))
    for other, (least, greatest) in list(state.facts.bounds.items()):
        gap = subtract(Linear(0, terms), Linear(0, other))
        if len(other) == 1 or isinstance(gap, int) or not _counters(gap):
            continue
        factor = gcd(*(c for _, c in gap.terms))
        if inf in (high, greatest) or -inf in (low, least):
            continue
        number, lowest = int(high - least) // factor, -(int(greatest - low) // factor)
        if number < lowest:
            state.hints.append(["-", plain(Linear(0, terms)), plain(Linear(0, other))])
            raise Contradiction
        if number > lowest:
            continue
        state.hints.append(["-", plain(Linear(0, terms)), plain(Linear(0, other))])
        fix(state, gap, number * factor)
        relate(state, value)
        return


def _counters(gap: Linear) -> bool:
    """Return whether `gap` is a difference of two loops' counters."""
    return len(gap.terms) == 2 and not any(_age(str(s))[0] for s, _ in gap.terms)


def _replace(state: State, name: str, by: Word) -> None:
    """Replace a symbol by `by`, and keep the facts about the symbol."""
    known = state.facts.range(symbol(name))
    state.hints.append(["=", name, plain(by)])
    state.substitute(name, by)
    state.facts.substitute(name, by)
    if isinstance(state.memory, Memory):
        state.memory.substitute(name, by)
    state.facts.assume(by, *known)


def quotient(state: State, value: Linear, divisor: int) -> tuple[Word, Word]:
    """Return q and r with value = q * divisor + r and 0 <= r < divisor; a negative value wraps around.

    If q and r do not follow from the form of `value`, they are new unknowns, and one of its symbols is
    replaced by its expression in them.

    Raises:
        Unsupported: the value may be beyond 2^64, or no symbol can be isolated.
        Choice: the value may be negative or not.
    """
    if private(value) is not None:
        raise Unsupported(f"{value} is divided by {divisor}")
    state.facts.tighten()
    low, high = state.facts.range(value)
    if high < 0:
        value = Linear(value.constant + _SPAN, value.terms)
        low, high = low + _SPAN, high + _SPAN
    if low < 0 <= high:
        raise Choice(value)
    if low < 0 or high >= _SPAN:
        raise Unsupported(f"{value} is divided by {divisor}")
    known = _known_quotient(state, value, divisor)
    if known is not None:
        return known, subtract(value, scale(known, divisor))
    whole, rest = _residue(value, divisor)
    least, greatest = state.facts.range(rest)
    if least < 0 or greatest == inf or not _isolated(rest) or _share(whole, rest):
        whole, rest, least, greatest = 0, value, low, high
    upper, lower = _divide(state, rest, divisor, (int(least) // divisor, int(greatest) // divisor))
    state.facts.assume(add(whole, upper), int(low) // divisor, int(high) // divisor)
    return add(whole, upper), lower


def _residue(value: Linear, divisor: int) -> tuple[Word, Word]:
    """Return q and r with value = q * divisor + r; the factors in r lie between 0 and divisor - 1."""
    rest = make(value.constant % divisor, {s: c % divisor for s, c in value.terms})
    whole = divide(subtract(value, rest), divisor)
    assert whole is not None
    return whole, rest


def _known_quotient(state: State, value: Linear, divisor: int) -> Word | None:
    """Return the quotient that follows from the form of `value`, or from a fact about `value` less multiples
    of the divisor: if n - 64 * t lies between 64 and 127, then n / 64 is t + 1. Otherwise None."""
    quotient, rest = _residue(value, divisor)
    least, greatest = state.facts.range(rest)
    if least >= 0 and greatest < divisor:
        return quotient
    for terms, (low, high) in state.facts.bounds.items():
        whole = divide(subtract(Linear(0, value.terms), Linear(0, terms)), divisor)
        if whole is None or isinstance(whole, int) or -inf in (low, -high):
            continue
        least, greatest = (int(bound + value.constant) // divisor for bound in (low, high))
        if least == greatest:
            return add(whole, least)
    return None


def _isolated(value: Word) -> list[tuple[str, int]]:
    """Return the symbols for which value = number can be solved, with their factors."""
    if isinstance(value, int):
        return []
    return [(s, c) for s, c in value.terms if isinstance(s, str) and abs(c) == 1]


def _share(left: Word, right: Word) -> bool:
    """Return whether a symbol is in both."""
    if isinstance(left, int) or isinstance(right, int):
        return False
    return not {s for s, _ in left.terms}.isdisjoint(s for s, _ in right.terms)


def _divide(state: State, value: Word, divisor: int, bounds: tuple[int, int]) -> tuple[Word, Word]:
    """Return new unknowns q, within the bounds, and r, and replace a symbol of `value` by them."""
    names = _isolated(value)
    if not names and isinstance(value, Linear):
        factor = gcd(divisor, *(c for _, c in value.terms))
        if factor > 1:  # value = factor * less + below, where below < factor
            below = value.constant % factor
            less = divide(subtract(value, below), factor)
            assert less is not None
            whole, rest = _divide(state, less, divisor // factor, bounds)
            return whole, add(scale(rest, factor), below)
    if not names:
        raise Unsupported(f"{value} is divided by {divisor}, and has nothing to solve for")
    name, own = max(names, key=lambda item: _age(item[0]))
    number = next(_quotients)
    whole, rest = symbol(f"q{number}"), symbol(f"r{number}")
    state.facts.assume(whole, *bounds)
    state.facts.assume(rest, 0, divisor - 1)
    others = subtract(value, Linear(0, ((name, own),)))
    by = scale(subtract(add(scale(whole, divisor), rest), others), own)
    _replace(state, name, by)
    return whole, rest


def field(state: State, value: Word, low: int, width: int) -> Word:
    """Return bits low .. low + width - 1 of a 64-bit number, by division (see quotient)."""
    if isinstance(value, int):
        return value % _SPAN >> low & (1 << width) - 1
    known = _known_quotient(state, value, 1 << low + width)
    if known is not None:
        value = subtract(value, scale(known, 1 << low + width))
    upper, _ = (value >> low, 0) if isinstance(value, int) else quotient(state, value, 1 << low)
    if isinstance(upper, int):
        return upper & (1 << width) - 1
    if low + width >= 64 or state.facts.range(upper)[1] < 1 << width:
        return upper
    _, rest = quotient(state, upper, 1 << width)
    return rest


def low_bits(value: Word, mask: int) -> int | None:
    """Return value & mask, where mask is 2^b - 1 and only the constant of value has bits below 2^b; None for
    other values."""
    if isinstance(value, int):
        return value & mask
    if mask & mask + 1 or any(not isinstance(s, str) or c % (mask + 1) for s, c in value.terms):
        return None
    return value.constant & mask


def masked(state: State, value: Word, mask: int) -> Word:
    """Return value & mask, both of 64 bits; for an unknown, the ones of the mask must be adjacent."""
    if isinstance(value, int):
        return value & mask
    if not mask:
        return 0
    low = low_bits(value, mask)
    if low is not None:
        return low
    shift = (mask & -mask).bit_length() - 1
    width = mask.bit_length() - shift
    if mask >> shift != (1 << width) - 1:
        raise Unsupported(f"and of {value} and {mask:#x}")
    rest = low_bits(value, (1 << shift) - 1)
    if shift + width == 64 and rest is not None:
        return subtract(value, rest)
    return scale(field(state, value, shift, width), 1 << shift)


def _age(name: str) -> tuple[bool, int]:
    """Sorts the newest loop counter first, parameters last: older symbols stay in use elsewhere."""
    counter = name[1:] if name.startswith("t") and name[1:].isdigit() else ""
    return not counter, -int(counter or 0)
