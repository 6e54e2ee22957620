"""Bounds from several facts, and division with remainder of unknown values, compared with all possible
values.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from random import Random

import pytest

from gfsmith.prove.machine.branch import Choice
from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.linear import Contradiction, Facts, Linear, Word, make, subtract, symbol
from gfsmith.prove.machine.state import State
from gfsmith.prove.machine.substitution import fix, quotient, relate, settle

NAMES = ("a", "b", "c")
MOST = 12


def value(word: Word, values: dict[str, int]) -> int:
    if isinstance(word, int):
        return word
    return word.constant + sum(c * values[str(s)] for s, c in word.terms)


def start(bound: int = MOST) -> State:
    state = State.concrete({}, [], [], {})
    for name in NAMES:
        state.facts.assume(symbol(name), 0, bound)
    return state


def form(rng: Random) -> Word:
    return make(rng.randrange(-20, 20), {name: rng.choice((-8, -4, -1, 0, 1, 2, 4, 8)) for name in NAMES})


def test_bounds_hold_for_every_value() -> None:
    rng = Random(2)
    used = 0
    for _ in range(150):
        facts = start().facts
        known = [
            (f, *sorted((rng.randrange(-40, 60), rng.randrange(-40, 60)))) for f in (form(rng), form(rng))
        ]
        try:
            for fact in known:
                facts.assume(*fact)
            facts.tighten()
        except Contradiction:
            continue
        low, high = facts.range(asked := form(rng))
        for numbers in product(range(MOST + 1), repeat=len(NAMES)):
            values = dict(zip(NAMES, numbers, strict=True))
            if all(least <= value(f, values) <= most for f, least, most in known):
                assert low <= value(asked, values) <= high
                used += 1
    assert used > 10_000


def test_known_forms_bound_others() -> None:
    """len = 64 q + r after t of q iterations: the next block is inside."""
    facts = Facts()
    facts.assume(symbol("r"), 0, 63)
    facts.assume(make(0, {"q": 1, "t": -1}), 1, 1 << 40)
    assert facts.range(make(-64, {"q": 64, "t": -64, "r": 1}))[0] == 0


def _new_unknowns(words: Sequence[Word], numbers: Sequence[int], values: dict[str, int]) -> dict[str, int]:
    """Return the values of the unknowns that a division made, one at most in each word."""
    found = {}
    for word, number in zip(words, numbers, strict=True):
        made = [(str(s), c) for s, c in word.terms if s not in values] if isinstance(word, Linear) else []
        for name, factor in made:
            left = number - value(subtract(word, make(0, {name: factor})), values)
            assert left % factor == 0
            found[name] = left // factor
        assert len(made) < 2
    return found


@pytest.mark.parametrize("divisor", [2, 4, 64])
def test_quotients(divisor: int) -> None:
    """For all unknowns: with quotient and remainder substituted, every value stays the same."""
    rng = Random(divisor)
    replaced = 0
    for _ in range(60):
        state = start(200)
        asked = make(rng.randrange(100), {name: rng.choice((0, 1, 1, 4, 64)) for name in NAMES})
        if not isinstance(asked, Linear):
            continue
        state.gpr |= {name: symbol(name) for name in NAMES}
        try:
            whole, rest = quotient(state, asked, divisor)
        except Unsupported:
            assert all(factor != 1 for _, factor in asked.terms)
            continue
        replaced += any(state.gpr[name] != symbol(name) for name in NAMES)
        used = {str(s) for word in (whole, rest) if isinstance(word, Linear) for s, _ in word.terms}
        assert all(state.gpr[name] == symbol(name) for name in NAMES if name in used)
        for _ in range(20):
            values = {name: rng.randrange(201) for name in NAMES}
            true = divmod(value(asked, values), divisor)
            new = _new_unknowns((whole, rest), true, values)
            for name in NAMES:
                word = state.gpr[name]
                assert isinstance(word, int | Linear)
                assert value(word, values | new) == values[name]
            for word, number in zip((whole, rest), true, strict=True):
                assert value(word, values | new) == number
                low, high = state.facts.range(word)
                assert low <= number <= high
    assert replaced > 20


def test_quotients_that_facts_give() -> None:
    """A bound of n - 64 t gives the quotient and the remainder of n."""
    state = State.concrete({}, [], [], {})
    state.facts.assume(symbol("t"), 0, 50)
    state.facts.assume(left := make(0, {"n": 1, "t": -64}), 64, 127)
    n = symbol("n")
    assert quotient(state, n, 64) == (make(1, {"t": 1}), subtract(left, 64))
    assert quotient(state, Linear(-64, n.terms), 64) == (symbol("t"), subtract(left, 64))


@pytest.mark.parametrize(("low", "high"), [(63, 126), (64, 128)])
def test_quotients_that_facts_leave_open(low: int, high: int) -> None:
    """Two quotients are possible: the answer is a new unknown, within their bounds."""
    state = State.concrete({}, [], [], {})
    state.facts.assume(symbol("t"), 0, 50)
    state.facts.assume(make(0, {"n": 1, "t": -64}), low, high)
    whole, _ = quotient(state, symbol("n"), 64)
    least, greatest = state.facts.range(subtract(whole, symbol("t")))
    assert least <= low // 64 < high // 64 <= greatest


def test_values_that_may_be_negative_are_a_choice() -> None:
    with pytest.raises(Choice):
        quotient(start(), Linear(-4, (("a", 1),)), 4)
    state = start(3)
    whole, rest = quotient(state, Linear(-4, (("a", 1),)), 4)
    assert (whole, rest) == ((1 << 62) - 1, symbol("a"))


def test_single_values_are_replaced() -> None:
    state = start(63)
    state.facts.assume(symbol("q"), 0, 100)
    state.gpr["length"] = length = make(0, {"q": 64, "a": 1})
    assert isinstance(length, Linear)
    fix(state, length, 8)
    settle(state)
    assert state.gpr["length"] == 8


def test_counters_of_one_length_are_equal() -> None:
    """Two loops over n bytes: t iterations of the first, u of the second."""
    state = State.concrete({}, [], [], {})
    state.facts.assume(first := make(-32, {"n": 1, "t1": -128}), 0, 31)
    state.facts.assume(second := make(0, {"n": 1, "t2": -128}), 0, 127)
    state.gpr["rax"] = symbol("t2")
    relate(state, second)
    assert state.gpr["rax"] == symbol("t1")
    assert state.facts.range(first) == (0, 31)


def test_counters_that_may_differ_stay_apart() -> None:
    state = State.concrete({}, [], [], {})
    state.facts.assume(make(0, {"n": 1, "t1": -128}), 0, 127)
    state.facts.assume(second := make(0, {"n": 1, "t2": -128}), 0, 128)
    state.gpr["rax"] = symbol("t2")
    relate(state, second)
    assert state.gpr["rax"] == symbol("t2")


def test_counters_of_no_length_contradict() -> None:
    state = State.concrete({}, [], [], {})
    state.facts.assume(make(0, {"n": 1, "t1": -128}), 0, 10)
    state.facts.assume(second := make(0, {"n": 1, "t2": -128}), 20, 30)
    with pytest.raises(Contradiction):
        relate(state, second)
