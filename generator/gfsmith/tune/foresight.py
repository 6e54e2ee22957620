"""What the model says of a study's variants, in the study's terms, and how well it ranks them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from gfsmith.model import kernels, mca
from gfsmith.stats import rank_correlation
from gfsmith.tune.result import Cell, Correlation, Measurement, Phase, Prediction, Regime
from gfsmith.tune.space import Plan
from gfsmith.tune.target import Target


def predictions(
    target: Target,
    plans: Sequence[Plan],
    reference: Plan,
    cpu: str,
    jobs: int,
    cache: Path | None,
    advance: Callable[[int], None],
) -> tuple[Prediction, ...]:
    """One for each plan whose kernels the model knows, its passes added up. Raises ModelError."""
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
    """What the search of a cell tried: a final has the best few only, which are about alike."""
    return [m for m in measurements if m.cell == cell and m.phase is Phase.SEARCH]


def correlations(
    measurements: Sequence[Measurement], foreseen: Sequence[Prediction]
) -> tuple[Correlation, ...]:
    """For every cell in cache, the model knows of no memory, where it and the search speak of three variants
    or more. Times are paired with the reference's, so they are comparable over the whole search."""
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
