"""Trials: every variant is timed next to the reference, all variants in random order in each round.

A trial is one sample of a variant between two of the reference. The processor's frequency and other tenants
change the duration of a sample within milliseconds. The mean of the two reference samples estimates the
reference's duration at the time of the variant's sample; the estimate is exact if the change is linear over
the trial. So the ratio of the two is free of drift, and trials of different rounds are independent of each
other, which is the only assumption of the median's interval.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from gfsmith.explore.stats import CONFIDENCE, estimate
from gfsmith.explore.tune.result import Cell, Measurement, Phase
from gfsmith.explore.tune.space import Plan

_LINE = 64
_PAGE = 4096


class Bench(Protocol):
    """Timer of plans: this machine (load.NativeBench), or the fake of a test."""

    def load(self, plans: Sequence[Plan]) -> dict[Plan, str]:
        """Load plans; return plan -> digest of its code, without plans that cannot be generated."""

    def open(self, cell: Cell, reference: Plan) -> None:
        """Select the cell for the next samples."""

    def sample(self, plan: Plan, displacement: int) -> float:
        """Return nanoseconds per call, with the shards `displacement` bytes off their pages."""

    def agree(self, plan: Plan, reference: Plan) -> bool:
        """Return whether both compute the same bytes in the open cell."""


@dataclass(frozen=True, slots=True)
class Trial:
    """Nanoseconds per call of the variant, and of the reference at the same time."""

    variant: float
    reference: float


Trials = Mapping[Plan, Sequence[Trial]]


def rounds(
    bench: Bench, plans: Sequence[Plan], reference: Plan, count: int, order: random.Random
) -> dict[Plan, list[Trial]]:
    """Run `count` trials of each plan in the open cell. Every round places the shards differently in their
    pages."""
    trials: dict[Plan, list[Trial]] = {plan: [] for plan in plans}
    for _ in range(count):
        shuffled = order.sample(list(plans), len(plans))
        displacement = order.randrange(_PAGE // _LINE) * _LINE
        before = bench.sample(reference, displacement)
        for plan in shuffled:
            taken = bench.sample(plan, displacement)
            after = bench.sample(reference, displacement)
            trials[plan].append(Trial(taken, (before + after) / 2))
            before = after
    return trials


def summarise(
    cell: Cell,
    plan: Plan,
    reference: Plan,
    trials: Sequence[Trial],
    phase: Phase,
    sources: int,
    compared: int,
) -> Measurement:
    """Return the measurement that a variant's trials give. compared: number of variants in the comparison;
    the intervals are wide enough that all of them together hold with CONFIDENCE (Bonferroni)."""
    confidence = 1 - (1 - CONFIDENCE) / max(compared, 1)
    return Measurement(
        cell=cell,
        symbols=plan.symbols,
        parameters=plan.parameters,
        reference=plan == reference,
        phase=phase,
        trials=len(trials),
        speed=estimate([t.reference / t.variant for t in trials], confidence),
        rate=estimate([sources * cell.length / t.variant for t in trials], confidence),
    )


Advance = Callable[[int], None]
