"""Trials, intervals and choices, on given times. No test measures time."""

from __future__ import annotations

import math
import random

import pytest

from gfsmith.build.target import parse
from gfsmith.explore.stats import Estimate, estimate
from gfsmith.explore.tune import choose, space
from gfsmith.explore.tune.measure import Trial, rounds, summarise
from gfsmith.explore.tune.result import Cell, Measurement, Phase, Regime
from gfsmith.explore.tune.space import Plan
from gfsmith.kernel.isa import BY_NAME
from tests.unit.explore.tune.fake import FakeBench

TARGET = parse("dot:3x2@avx2", BY_NAME["sse"])
CELL = Cell(TARGET.name, TARGET.shape, "avx2", Regime.CACHED, "cached", 1024)


def _plan(**chosen: int | str) -> Plan:
    return space.plan(TARGET, "gfs", chosen)


REFERENCE = _plan()
PLANS = [_plan(unroll=u, prefetch=p) for u in (1, 2, 3, 4) for p in (0, 256)]
COSTS = {plan: 100.0 * (1 + 0.03 * n) for n, plan in enumerate(PLANS)}


def _speeds(bench: FakeBench, count: int = 41) -> dict[Plan, Measurement]:
    trials = rounds(bench, PLANS, REFERENCE, count, random.Random(1))
    return {p: summarise(CELL, p, REFERENCE, t, Phase.FINAL, 3, len(PLANS)) for p, t in trials.items()}


def _worst(found: dict[Plan, Measurement]) -> float:
    """Return the largest relative error of a median."""
    return max(abs(m.speed.median * COSTS[p] / COSTS[REFERENCE] - 1) for p, m in found.items())


@pytest.mark.parametrize(
    "drift",
    [
        lambda n: 1.01**n,  # 1 % more with every sample
        lambda n: 1 + 0.4 * math.sin(n / 40),  # other programs start and end
        lambda n: 1.0 if n < 300 else 1.5,  # the frequency steps down
    ],
    ids=["growing", "wave", "step"],
)
def test_drift_is_cancelled(drift) -> None:
    assert _worst(_speeds(FakeBench(COSTS.__getitem__, drift))) < 0.005


def test_drift_would_show_without_a_reference_for_each_trial() -> None:
    """The same samples relative to the first reference are wrong by tens of percent."""
    bench = FakeBench(COSTS.__getitem__, lambda n: 1 + 0.001 * n)
    _speeds(bench)
    first = bench.log[0][2]
    plan = PLANS[5]
    naive = estimate([first / t for symbol, _, t in bench.log if symbol == plan.symbol]).median
    assert abs(naive * COSTS[plan] / COSTS[REFERENCE] - 1) > 0.1


def test_every_round_has_another_order_and_another_displacement() -> None:
    bench = FakeBench(COSTS.__getitem__)
    _speeds(bench, count=20)
    length = 2 * len(PLANS) + 1
    turns = [bench.log[n : n + length] for n in range(0, len(bench.log), length)]
    assert len(turns) == 20
    for turn in turns:
        assert len({displacement for _, displacement, _ in turn}) == 1
        assert all(symbol == REFERENCE.symbol for symbol, _, _ in turn[::2])
        assert sorted(symbol for symbol, _, _ in turn[1::2]) == sorted(plan.symbol for plan in PLANS)
    assert len({tuple(symbol for symbol, _, _ in turn) for turn in turns}) > 15
    assert len({turn[0][1] for turn in turns}) > 10


def test_intervals_of_all_variants_together_hold_as_often_as_they_say() -> None:
    """Skewed noise, eight variants: in at least 95 % of the experiments all eight intervals hold."""
    held = 0
    for seed in range(300):
        source = random.Random(seed)
        found = [estimate([source.expovariate(1.0) for _ in range(61)], 1 - 0.05 / len(PLANS)) for _ in PLANS]
        held += all(e.low <= math.log(2) <= e.high for e in found)
    assert held / 300 >= 0.94
    narrow = estimate([float(n) for n in range(61)])
    wide = estimate([float(n) for n in range(61)], 1 - 0.05 / len(PLANS))
    assert wide.low < narrow.low and narrow.high < wide.high
    trials = [Trial(1.0, float(n)) for n in range(61)]
    alone, among = (summarise(CELL, REFERENCE, REFERENCE, trials, Phase.FINAL, 3, n) for n in (1, 8))
    assert (alone.speed, among.speed) == (narrow, wide)


def _final(speeds: dict[Plan, tuple[float, float, float]]) -> dict[Plan, Measurement]:
    return {
        plan: Measurement(
            CELL, plan.symbols, plan.parameters, plan == REFERENCE, Phase.FINAL, 9, Estimate(*s), Estimate(*s)
        )
        for plan, s in speeds.items()
    }


FAST, FASTER = _plan(unroll=4, order="copies"), _plan(unroll=4, order="steps", prefetch=512)
SAME = (1.0, 0.99, 1.01)


def test_a_tie_goes_to_the_simpler() -> None:
    tie = choose.winner(CELL, _final({REFERENCE: SAME, FAST: (1.05, 1.005, 1.1)}), REFERENCE)
    assert tie.symbols == REFERENCE.symbols and not tie.changed
    assert tie.tied == (REFERENCE.symbol, FAST.symbol)
    clear = _final({REFERENCE: SAME, FASTER: (1.06, 1.04, 1.1), FAST: (1.05, 1.02, 1.07)})
    won = choose.winner(CELL, clear, REFERENCE)
    assert won.changed and won.tied[0] == won.symbol
    assert set(won.tied) == {FAST.symbol, FASTER.symbol}
    assert space.complexity(FAST, REFERENCE)[1] == space.complexity(FASTER, REFERENCE)[1]
    assert won.symbols == FAST.symbols, "the one without prefetch is simpler"


def test_a_tie_with_the_fastest_and_the_reference_does_not_win() -> None:
    between = (1.02, 1.0, 1.06)
    won = choose.winner(CELL, _final({REFERENCE: SAME, FAST: between, FASTER: (1.07, 1.05, 1.09)}), REFERENCE)
    assert won.symbols == FASTER.symbols and won.tied == (FASTER.symbol, FAST.symbol)


def test_a_choice_must_gain_somewhere_and_lose_nowhere() -> None:
    def chosen(*finals: dict[Plan, tuple[float, float, float]]) -> object:
        found = choose.choice(TARGET.name, "cached", dict(enumerate(map(_final, finals))), REFERENCE)
        return found and found.symbols

    gain, loss, little = (1.2, 1.15, 1.25), (0.97, 0.95, 0.985), (1.008, 1.005, 1.012)
    assert chosen({REFERENCE: SAME, FAST: gain}, {REFERENCE: SAME, FAST: SAME}) == FAST.symbols
    assert chosen({REFERENCE: SAME, FAST: gain}, {REFERENCE: SAME, FAST: loss}) is None
    assert chosen({REFERENCE: SAME, FAST: little}) is None, "not worth another kernel"
    assert chosen({REFERENCE: SAME, FAST: gain}, {REFERENCE: SAME}) is None, "not measured everywhere"
    better = {REFERENCE: SAME, FAST: gain, FASTER: (1.3, 1.27, 1.33)}
    assert chosen(better, better) == FASTER.symbols
