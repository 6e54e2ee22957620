"""Predictions of the model for a study's variants, and their rank correlation with the measurements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from gfsmith.build.target import Target
from gfsmith.explore.cost_model import kernels, mca
from gfsmith.explore.stats import rank_correlation
from gfsmith.explore.tune.result import Cell, Correlation, Measurement, Phase, Prediction, Regime
from gfsmith.explore.tune.space import Plan


def predictions(
    target: Target,
    plans: Sequence[Plan],
    reference: Plan,
    cpu: str,
    jobs: int,
    cache: Path | None,
    advance: Callable[[int], None],
) -> tuple[Prediction, ...]:
    """Return a prediction for each plan whose kernels the model supports, the sum of its passes. Raises
    ModelError."""
    specs = list(dict.fromkeys(spec for plan in plans for spec in plan.specs))
    found = kernels.predict_all(specs, [cpu], jobs, cache, advance)
    result = []
    for plan in plans:
        outcomes = [found[spec][cpu] for spec in plan.specs]
        passes = [o.cycles_per_64 for o in outcomes if isinstance(o, mca.Prediction)]
        if len(passes) == len(outcomes):
            cycles = sum(passes) * target.sources
            result.append(
                Prediction(cpu, target.name, plan.symbols, plan.parameters, plan == reference, cycles)
            )
    return tuple(result)


def searched(measurements: Iterable[Measurement], cell: Cell) -> list[Measurement]:
    """Return the measurements of a cell's search. A final has only the best few variants, which are about
    equal."""
    return [m for m in measurements if m.cell == cell and m.phase is Phase.SEARCH]


def correlations(
    measurements: Sequence[Measurement], foreseen: Sequence[Prediction]
) -> tuple[Correlation, ...]:
    """Return the correlation of every cell in cache (the model has no memory) in which both the model and the
    search have three variants or more. Times are paired with the reference's, so all of a search are
    comparable."""
    cells = dict.fromkeys(m.cell for m in measurements if m.cell.regime is Regime.CACHED)
    result = []
    for cpu in dict.fromkeys(p.cpu for p in foreseen):
        for cell in cells:
            cycles = {p.symbols: p.cycles for p in foreseen if (p.cpu, p.target) == (cpu, cell.target)}
            both = [m for m in searched(measurements, cell) if m.symbols in cycles]
            times = [1 / m.speed.median for m in both]
            rho = rank_correlation([cycles[m.symbols] for m in both], times)
            if rho is not None:
                result.append(Correlation(cpu, cell, len(both), rho))
    return tuple(result)
