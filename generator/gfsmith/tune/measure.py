"""Trials: every variant beside the reference, all variants in turn, in random order.

A trial is one sample of a variant between two of the reference. The processor's frequency and other tenants
change what a sample takes over milliseconds; the mean of the two references is what the reference would have
taken at the variant's own moment, exactly so if the change is linear over the trial. So the ratio of the two
is free of the drift, and trials of different rounds are independent of each other, which is all that the
interval of the median assumes.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from gfsmith.stats import CONFIDENCE, estimate
from gfsmith.tune.result import Cell, Measurement, Phase
from gfsmith.tune.space import Plan

_LINE = 64
_PAGE = 4096


class Bench(Protocol):
    """What can time plans: this machine (load.NativeBench), or a test's stand-in."""

    def load(self, plans: Sequence[Plan]) -> dict[Plan, str]:
        """Make plans ready; plan -> digest of its code, without those that cannot be."""

    def open(self, cell: Cell, reference: Plan) -> None:
        """Time this cell from now on."""

    def sample(self, plan: Plan, displacement: int) -> float:
        """Nanoseconds a call takes, the shards `displacement` bytes off their pages."""

    def agree(self, plan: Plan, reference: Plan) -> bool:
        """Whether both compute the same bytes here."""


@dataclass(frozen=True, slots=True)
class Trial:
    """Nanoseconds a call of the variant took, and of the reference at the same moment."""

    variant: float
    reference: float


Trials = Mapping[Plan, Sequence[Trial]]


def rounds(
    bench: Bench, plans: Sequence[Plan], reference: Plan, count: int, order: random.Random
) -> dict[Plan, list[Trial]]:
    """So many trials of each plan in the open cell. Every round puts the shards elsewhere in their pages."""
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
    """compared: how many variants stand beside each other; the intervals are as wide as it takes for all of
    them together to be right with CONFIDENCE (Bonferroni)."""
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
