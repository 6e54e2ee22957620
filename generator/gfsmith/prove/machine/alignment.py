"""Alignment of addresses: which are multiples of a power of two.

Code joins addresses by OR and tests the low bits of the result. Where they are 0, all the addresses are
multiples: only the explorer states that, on that side of the branch (State.multiples). A fact is about a
value, not about a register, so no instruction can make it wrong.

A loop over src[] joins an unknown number of addresses. The symbol Address("every", n) is the OR of
src[0] to src[n - 1]; as a fact, for each of these addresses.
"""

from __future__ import annotations

from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.linear import (
    EVERY,
    Address,
    Linear,
    Word,
    add,
    base,
    private,
    scale,
    subtract,
    symbol,
)
from gfsmith.prove.machine.state import Joined, State


def joined(value: Joined | Linear) -> Joined:
    return value if isinstance(value, Joined) else Joined(frozenset({value}))


def join(left: Joined, right: Joined) -> Joined:
    """Return the OR of the low bits of addresses."""
    if left.mask != right.mask:
        raise Unsupported("the OR of different numbers of low bits of addresses")
    return Joined(left.addresses | right.addresses, left.mask)


def remainder(left: object, mask: int) -> Joined | None:
    """Return the AND of addresses, or of a value that must not decide anything, and 2^b - 1; None for other
    operands."""
    if mask < 0 or mask & mask + 1:
        return None
    if isinstance(left, Joined):
        return Joined(left.addresses, left.mask & mask)
    if isinstance(left, Linear) and (base(left) is not None or private(left) is not None):
        return Joined(frozenset({left}), mask)
    return None


def is_multiple(state: State, place: Word, size: int) -> bool:
    """Return whether an address is known to be a multiple of `size`."""
    if isinstance(place, Linear):
        for known, multiple in state.multiples.items():
            if multiple % size == 0 and (
                _divides(subtract(place, known), size) or _is_source(state, place, known, size)
            ):
                return True
    return state.memory.is_aligned(place, size)


def _divides(value: Word, size: int) -> bool:
    if isinstance(value, int):
        return value % size == 0
    return value.constant % size == 0 and all(c % size == 0 and isinstance(s, str) for s, c in value.terms)


def _is_source(state: State, place: Linear, known: Word, size: int) -> bool:
    """Return whether `place` is a multiple of `size` behind one of the sources of which `known` is the OR."""
    many, one = base(known), base(place)
    if many is None or one is None or many[0].kind != EVERY or one[0].kind != "src":
        return False
    low, left = (state.facts.range(each) for each in (one[0].index, subtract(many[0].index, one[0].index)))
    return many[1] == 0 and low[0] >= 0 and left[0] > 0 and _divides(one[1], size)


def _collected(value: Joined) -> tuple[Word, frozenset[Word]]:
    """Return the number n for which `value` joins src[0] to src[n - 1], and its other addresses."""
    counts = [place[0].index for each in value.addresses if (place := _every(each)) is not None]
    if len(counts) > 1:
        return 0, value.addresses
    count: Word = counts[0] if counts else 0
    addresses = set(value.addresses - {symbol(Address(EVERY, count))})
    while (following := symbol(Address("src", count))) in addresses:
        addresses.remove(following)
        count = add(count, 1)
    return count, frozenset(addresses)


def _every(value: Word) -> tuple[Address, Word] | None:
    """Return region and offset of the OR of some sources; None for other values."""
    place = base(value)
    return place if place is not None and place[0].kind == EVERY and place[1] == 0 else None


def grown(first: Joined, second: Joined, iteration: Linear) -> Joined | None:
    """Return the addresses that are joined at any iteration of a loop over src[], from those at the first
    two; None if they do not fit one."""
    (before, others), (after, same) = _collected(first), _collected(second)
    if first.mask != second.mask or others != same or subtract(after, before) != 1:
        return None
    count = symbol(Address(EVERY, add(before, scale(iteration, 1))))
    return Joined(others | {count}, first.mask)


def equal(left: Joined, right: Joined) -> bool:
    """Return whether two values join the same addresses."""
    return left.mask == right.mask and _collected(left) == _collected(right)
