"""The limits of a machine in a cell: its memory, measured, and its execution ports, modelled."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Protocol

from gfsmith.build.target import Target
from gfsmith.explore.cost_model import mca
from gfsmith.explore.tune.measure import Bench, rounds, summarise
from gfsmith.explore.tune.result import Bound, Cell, Phase, Regime
from gfsmith.explore.tune.space import Plan
from gfsmith.kernel.spec import Baked, KernelSpec, Operation, Store, default_technique

_UNROLL = (1, 2)
_DISTANCE = (0, 256, 512)  #: prefetch distances in bytes


class ClockedBench(Bench, Protocol):
    """A bench that measures its core's clock."""

    def clock(self) -> float:
        """GHz."""


def touching(target: Target, regime: Regime) -> tuple[Plan, ...]:
    """Return kernels that access the same bytes as the target's with almost no computation: every output is
    the sum of all sources, a matrix of ones, for which one addition per source is enough. From memory the
    list also has stores around the cache and prefetches. It is empty for mad, which reads its destinations.
    """
    if target.operation is Operation.MAD:
        return ()
    if regime is Regime.CACHED:
        return tuple(Plan((_ones(target, unroll, Store.TEMPORAL, 0),)) for unroll in _UNROLL)
    return tuple(
        Plan((_ones(target, unroll, store, ahead),))
        for unroll in _UNROLL
        for store in Store
        for ahead in _DISTANCE
    )


def _ones(target: Target, unroll: int, store: Store, ahead: int) -> KernelSpec:
    rows = ((1,) * target.sources,) * target.outputs
    return KernelSpec(
        operation=Operation.DOT,
        isa=target.isa,
        inputs=target.sources,
        outputs=target.outputs,
        technique=default_technique(Operation.DOT, target.isa),
        unroll=unroll,
        prefetch=ahead,
        store=store,
        prefix="touch",
        baked=Baked("ones", target.outputs, 0, rows),
    )


def memory(
    bench: Bench, target: Target, cell: Cell, reference: Plan, trials: int, order: random.Random
) -> float | None:
    """Return the GB of source data per second of the fastest kernel that only touches the cell's bytes; None
    if there is none. Leaves the cell open."""
    plans = list(bench.load(touching(target, cell.regime)))
    if not plans:
        return None
    bench.open(cell, reference)
    found = rounds(bench, plans, reference, trials, order)
    rates = [
        summarise(cell, plan, reference, found[plan], Phase.FINAL, target.sources, len(plans)).rate.median
        for plan in plans
    ]
    return max(rates)


def ports(outcomes: Sequence[mca.Outcome], clock: float) -> float | None:
    """Return the GB of source data per second that the busiest execution port permits a plan whose passes
    have these predictions, at a clock in GHz; None if a pass has no prediction."""
    cycles = 0.0  # per byte of source: every pass reads all sources
    for outcome in outcomes:
        if not isinstance(outcome, mca.Prediction):
            return None
        cycles += max(outcome.pressure.values()) / outcome.source_bytes
    return clock / cycles


def bounds(
    bench: ClockedBench,
    target: Target,
    cells: Sequence[tuple[Cell, Plan]],
    foreseen: Mapping[KernelSpec, mca.Outcome],
    trials: int,
    seed: int,
) -> list[Bound]:
    """Return the bounds of a target's cells, each with its reference. foreseen: the model's predictions for
    the references' kernels, empty without a model."""
    bench.load([reference for _, reference in cells])
    clocks, rates = [], []
    for cell, reference in cells:
        rates.append(memory(bench, target, cell, reference, trials, random.Random(seed)))
        clocks.append(bench.clock())
    # Other programs on the core make a clock appear slower, and never faster.
    clock = max(clocks, default=0.0)
    found = []
    for (cell, reference), rate in zip(cells, rates, strict=True):
        outcomes = [foreseen.get(spec, mca.Unmodelled("", "")) for spec in reference.specs]
        found.append(Bound(cell, rate, ports(outcomes, clock)))
    return found
