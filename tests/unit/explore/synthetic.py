"""A study of variants with synthetic measurements: a formula gives their speeds, so the contents of pictures
are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gfsmith.explore.tune.result import (
    Basis,
    Bound,
    Cell,
    Correlation,
    Interval,
    Measurement,
    Phase,
    Prediction,
    Regime,
    Study,
    Winner,
)

LENGTHS = (1024, 4096, 16384, 65536)
SHAPES = ((4, 2), (8, 2), (8, 4), (12, 4), (16, 8))
UNROLLS = (1, 2, 4, 8)
DISTANCES = (0, 256, 1024)


def _interval(value: float, width: float = 0.02) -> Interval:
    return Interval(value, value * (1 - width), value * (1 + width))


def _cell(k: int, outputs: int, regime: Regime, length: int) -> Cell:
    path = "cached" if regime is Regime.CACHED else "distant"
    return Cell(
        f"cauchy:{k}x{outputs}@gfni_avx512", f"{k}x{outputs}", "gfni_avx512", regime, path, length, "cauchy"
    )


def gain(unroll: int, distance: int, regime: Regime) -> float:
    """Return the speed-up: unroll 2 is the best; prefetching helps from memory and costs time in cache."""
    better = {1: 1.0, 2: 1.08, 4: 1.03, 8: 0.9}[unroll]
    return better * (1 + (distance / 4096 if regime is Regime.MEMORY else -distance / 8192))


def _measured(cell: Cell, unroll: int, distance: int, base: float) -> Measurement:
    speed = gain(unroll, distance, cell.regime)
    symbol = f"gfs_dot_{cell.shape}_cauchy__gfni_avx512_u{unroll}" + (f"_p{distance}t0" if distance else "")
    parameters: dict[str, int | str] = {
        "technique": "affine", "circuit": "auto", "unroll": unroll, "order": "sums", "placement": "registers",
        "prefetch": distance, "hint": "t0", "store": "temporal", "outputs": int(cell.shape.split("x")[1]),
    }  # fmt: skip
    return Measurement(
        cell=cell,
        symbols=(symbol,),
        parameters=parameters,
        reference=(unroll, distance) == (1, 0),
        phase=Phase.SEARCH,
        trials=9,
        speed=_interval(speed),
        rate=_interval(base * speed),
    )


def _base(cell: Cell) -> float:
    outputs = int(cell.shape.split("x")[1])
    if cell.regime is Regime.MEMORY:
        return 9.0 + LENGTHS.index(cell.length)
    return (240 / outputs) / (1 + cell.length / 60000)


def _foreseen(m: Measurement) -> float:
    """Return the model's prediction, which is right about unrolling, and for prefetching includes only its
    slot.
    """
    return 30 / gain(int(m.parameters["unroll"]), 0, m.cell.regime) + (m.parameters["prefetch"] != 0)


def study(shapes: Sequence[tuple[int, int]] = SHAPES, lengths: Sequence[int] = LENGTHS) -> Study:
    """Return a study of several shapes in both regimes, with a model."""
    measurements: list[Measurement] = []
    winners: list[Winner] = []
    for k, outputs in shapes:
        for regime in Regime:
            for length in lengths:
                cell = _cell(k, outputs, regime, length)
                found = [
                    _measured(cell, u, d, _base(cell))
                    for u in UNROLLS
                    for d in DISTANCES
                    if (u, d) != (8, 1024)  # not tried
                ]
                best = max(found, key=lambda m: m.speed.median)
                measurements += [*found, replace(best, phase=Phase.FINAL, trials=60)]
                winners.append(
                    Winner(cell, best.symbols, best.parameters, (best.symbol,), best.speed, best.rate, True)
                )
    predictions = [
        Prediction("sapphirerapids", m.cell.target, m.symbols, m.parameters, m.reference, _foreseen(m))
        for m in measurements
        if m.cell.regime is Regime.CACHED and m.cell.length == lengths[0] and m.phase is Phase.SEARCH
    ]
    cells = dict.fromkeys(m.cell for m in measurements)
    bounds = [
        Bound(c, 14.0 if c.regime is Regime.MEMORY else 1.7 * _base(c), 200 / int(c.shape.split("x")[1]))
        for c in cells
    ]
    cached = [c for c in cells if c.regime is Regime.CACHED]
    return Study(
        microarchitecture="sapphirerapids",
        basis=Basis.MEASURED,
        complete=True,
        confidence=0.95,
        seconds=1.0,
        measurements=tuple(measurements),
        winners=tuple(winners),
        predictions=tuple(predictions),
        correlations=tuple(Correlation("sapphirerapids", c, 11, 1.0) for c in cached),
        bounds=tuple(bounds),
    )
