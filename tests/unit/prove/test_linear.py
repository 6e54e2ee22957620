"""Linear forms and the known facts about them, compared with plain integers."""

from __future__ import annotations

from itertools import product
from math import inf
from random import Random

import pytest

from gfsmith.prove.machine.linear import (
    Address,
    Contradiction,
    Facts,
    Word,
    add,
    base,
    divide,
    make,
    scale,
    substitute,
    subtract,
    symbol,
)

NAMES = ("n", "k", "t0")
VALUES = range(-3, 4)
N, K = symbol("n"), symbol("k")


def evaluate(value: Word, point: dict[str, int]) -> int:
    if isinstance(value, int):
        return value
    return value.constant + sum(c * point[str(s)] for s, c in value.terms)


def points() -> list[dict[str, int]]:
    return [dict(zip(NAMES, values, strict=True)) for values in product(VALUES, repeat=len(NAMES))]


def form(random: Random) -> Word:
    return make(random.randint(-9, 9), {name: random.randint(-3, 3) for name in NAMES})


def test_arithmetic_is_that_of_integers() -> None:
    random = Random(1)
    for _ in range(200):
        a, b, factor = form(random), form(random), random.randint(-4, 4)
        for point in points()[::11]:
            x, y = evaluate(a, point), evaluate(b, point)
            assert evaluate(add(a, b), point) == x + y
            assert evaluate(subtract(a, b), point) == x - y
            assert evaluate(scale(a, factor), point) == x * factor


def test_equal_forms_are_equal() -> None:
    assert subtract(add(N, K), add(K, N)) == 0
    assert add(add(N, 5), K) == add(K, add(5, N))
    assert scale(N, 0) == 0


def test_division_is_exact_or_refused() -> None:
    random = Random(2)
    divisible = 0
    for _ in range(300):
        value, divisor = form(random), random.choice([2, 3, 8])
        assert divide(scale(value, divisor), divisor) == value
        quotient = divide(value, divisor)
        if quotient is None:
            assert any(evaluate(value, point) % divisor for point in points())
        else:
            divisible += 1
            assert scale(quotient, divisor) == value
    assert divisible > 0


def test_substitution_is_evaluation() -> None:
    random = Random(3)
    for _ in range(200):
        value, by = form(random), form(random)
        name = random.choice(NAMES)
        for point in points()[::17]:
            moved = point | {name: evaluate(by, point)}
            assert evaluate(substitute(value, name, by), point) == evaluate(value, moved)


def test_substitution_reaches_the_number_of_a_shard() -> None:
    place = add(symbol(Address("src", symbol("t0"))), 32)
    assert substitute(place, "t0", add(K, 1)) == add(symbol(Address("src", add(K, 1))), 32)


def test_base_takes_an_address_apart() -> None:
    place = add(add(symbol(Address("src", 2)), scale(N, 32)), -5)
    assert base(place) == (Address("src", 2), add(scale(N, 32), -5))
    assert base(7) is None
    assert base(N) is None
    assert base(scale(symbol(Address("src")), 2)) is None
    assert base(add(symbol(Address("src")), symbol(Address("dst")))) is None


def test_range_holds_all_values_and_assumptions_cut_none_off() -> None:
    """A point that satisfies random facts lies in every range, and these facts cause no contradiction."""
    random = Random(4)
    contradictions = 0
    for _ in range(400):
        facts, left = Facts(), points()
        for name in NAMES:
            facts.bounds[((name, 1),)] = (VALUES[0], VALUES[-1])
        try:
            for _ in range(random.randint(1, 4)):
                value, low = form(random), random.randint(-12, 12)
                high = random.choice([low + random.randint(-1, 6), inf])
                left = [p for p in left if low <= evaluate(value, p) <= high]
                facts.assume(value, low, high)
        except Contradiction:
            contradictions += 1
            assert not left
            continue
        for _ in range(5):
            value = form(random)
            low, high = facts.range(value)
            assert all(low <= evaluate(value, point) <= high for point in left)
    assert 0 < contradictions < 400


def test_facts_survive_substitution() -> None:
    """The facts about 32 t0 + n hold for the same number after t0 is replaced."""
    random = Random(5)
    for _ in range(200):
        facts, value, by = Facts(), form(random), form(random)
        name = random.choice(NAMES)
        try:
            facts.assume(value, -20, 20)
            moved = facts.copy()
            moved.substitute(name, by)
        except Contradiction:
            continue
        low, high = moved.range(substitute(value, name, by))
        for point in points()[::13]:
            if min(point.values()) >= 0:
                there = point | {name: evaluate(by, point)}
                inside = -20 <= evaluate(value, there) <= 20 and there[name] >= 0
                assert not inside or low <= evaluate(value, there) <= high


def test_copies_are_independent() -> None:
    facts = Facts()
    other = facts.copy()
    other.assume(N, 3, 5)
    assert facts.range(N) == (0, inf)
    assert other.range(N) == (3, 5)


def test_bounds_of_a_multiple_are_rounded_inwards() -> None:
    facts = Facts()
    facts.assume(scale(N, 32), 1, 95)
    assert facts.range(N) == (1, 2)
    facts.assume(subtract(7, N), 6, 6)
    assert facts.range(scale(N, -3)) == (-3, -3)


@pytest.mark.parametrize("value, low, high", [(5, 6, 9), (N, -9, -1), (subtract(N, N), 1, 1)])
def test_contradictions(value: Word, low: int, high: int) -> None:
    with pytest.raises(Contradiction):
        Facts().assume(value, low, high)


def test_facts_of_two_branches_may_contradict() -> None:
    facts = Facts()
    facts.assume(subtract(N, 32), -inf, -1)
    with pytest.raises(Contradiction):
        facts.assume(subtract(31, N), -inf, -1)
