"""Conclusions of the prover from a test of the low bits of addresses, right and wrong ones."""

from __future__ import annotations

import pytest

from gfsmith.kernel.isa import BY_NAME
from gfsmith.prove.machine.alignment import equal, grown, is_multiple, join, remainder
from gfsmith.prove.machine.branch import decide
from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.invariant import _same
from gfsmith.prove.machine.linear import EVERY, Address, Word, add, scale, substitute, symbol
from gfsmith.prove.machine.power.architecture import Power
from gfsmith.prove.machine.state import Alignment, Condition, Joined, State

K, T = symbol("k"), symbol("t")


def src(index: Word) -> Word:
    return symbol(Address("src", index))


def every(count: Word) -> Word:
    return symbol(Address(EVERY, count))


def joined(*addresses: Word, mask: int = 15) -> Joined:
    return Joined(frozenset(addresses), mask)


def state(known: dict[Word, int]) -> State:
    """A state with k sources, an unknown t below k, and facts about addresses."""
    made = State.concrete({}, [], [], {})
    made.multiples = known
    made.facts.assume(add(K, scale(T, -1)), 1, 1 << 60)
    return made


DST = symbol(Address("dst", 0))
ALL: dict[Word, int] = {every(K): 16}
ONE: dict[Word, int] = {src(0): 16}


@pytest.mark.parametrize(
    ("known", "place"),
    [
        (ONE, src(0)),
        (ONE, add(src(0), add(scale(T, 48), -32))),
        ({src(0): 64}, src(0)),
        (ALL, src(T)),
        (ALL, add(src(T), add(scale(K, 16), 32))),
        ({every(3): 16}, src(2)),
    ],
)
def test_multiples(known: dict[Word, int], place: Word) -> None:
    assert is_multiple(state(known), place, 16)


@pytest.mark.parametrize(
    ("known", "place"),
    [
        ({}, src(0)),
        ({src(0): 8}, src(0)),
        (ONE, add(src(0), 8)),
        (ONE, add(src(0), scale(T, 8))),
        (ONE, add(src(0), add(scale(T, 16), 8))),
        ({src(K): 16}, src(T)),
        (ONE, add(src(0), scale(symbol(Address("coeffs")), 16))),
        (ONE, src(1)),
        (ONE, DST),
        (ONE, 8),
        (ALL, add(src(T), 8)),
        (ALL, add(src(T), scale(T, 8))),
        (ALL, src(K)),
        (ALL, src(add(T, 1))),
        (ALL, src(-1)),
        (ALL, src(add(T, scale(K, -1)))),
        (ALL, symbol(Address("dst", T))),
        (ALL, symbol(Address("ahead", T))),
        ({every(3): 16}, src(3)),
        ({every(K): 8}, src(T)),
        ({add(every(K), 8): 16}, src(T)),
    ],
)
def test_no_multiples(known: dict[Word, int], place: Word) -> None:
    assert not is_multiple(state(known), place, 16)


@pytest.mark.parametrize("mask", [8, 6, 14, 16, 5, -16, -1])
def test_only_low_bits_are_tested(mask: int) -> None:
    assert remainder(src(0), mask) is None


def test_the_fewer_bits_count() -> None:
    assert remainder(joined(src(0), mask=7), 15) == joined(src(0), mask=7)
    assert remainder(src(0), 15) == joined(src(0))
    assert remainder(K, 15) is None


def test_joined_masks_are_the_same() -> None:
    assert join(joined(src(0)), joined(DST)) == joined(src(0), DST)
    with pytest.raises(Unsupported):
        join(joined(src(0)), joined(DST, mask=7))


def test_a_loop_over_all_sources() -> None:
    first, second = joined(DST, src(0)), joined(DST, src(0), src(1))
    guess = grown(first, second, T)
    assert guess == joined(DST, every(add(T, 1)))
    after = joined(DST, every(add(T, 1)), src(add(T, 1)))
    assert _same(after, guess, lambda word: substitute(word, "t", add(T, 1)))
    for wrong in (guess, joined(DST, every(add(T, 1)), src(T)), joined(every(add(T, 2))), DST):
        assert not _same(wrong, guess, lambda word: substitute(word, "t", add(T, 1)))


@pytest.mark.parametrize(
    "second",
    [
        joined(DST, src(0)),
        joined(DST, src(0), src(2)),
        joined(DST, src(0), src(1), src(2)),
        joined(DST, src(1)),
        joined(src(0), src(1)),
        joined(DST, src(0), add(src(1), 8)),
        joined(DST, src(0), symbol(Address("dst", 1))),
        joined(DST, src(0), src(1), mask=7),
    ],
)
def test_other_loops(second: Joined) -> None:
    assert grown(joined(DST, src(0)), second, T) is None


def test_equal() -> None:
    assert equal(joined(every(2)), joined(src(0), src(1)))
    assert equal(joined(every(K), src(K)), joined(every(add(K, 1))))
    for other in (
        joined(every(3)),
        joined(every(2), DST),
        joined(src(0), src(2)),
        joined(src(1)),
        joined(every(2), mask=7),
        joined(every(2), every(3)),
    ):
        assert not equal(joined(every(2)), other)


@pytest.mark.parametrize("condition", Condition)
def test_only_equality_with_zero_is_an_alignment(condition: Condition) -> None:
    """The low bits are a number below 16, so its sign decides nothing about the addresses."""
    flags = Alignment(frozenset({src(0)}), 15)
    if condition in (Condition.EQUAL, Condition.NOT_EQUAL):
        assert decide(state({}), flags, condition) is flags
    else:
        with pytest.raises(Unsupported):
            decide(state({}), flags, condition)


def test_no_vectors_are_granted_without_a_feature() -> None:
    sse, flags = BY_NAME["sse"], set(BY_NAME["sse"].cpu_flags)
    assert set(Power().features(sse)) == flags
    assert set(Power().features(sse, ("VSX300",))) == flags | {"ALTIVEC", "VSX207", "VSX300"}
