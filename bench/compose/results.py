"""results.json: the measurements by cell, from which an interrupted run continues."""

from __future__ import annotations

import statistics

from bench.compose.measure import Measured
from bench.compose.plan import COMPOSED, CONTENDERS, INCOHERENT
from bench.compose.quantiles import PERCENTILES, compare, enough
from bench.compose.work import work_json, work_of
from bench.result_store import Json
from gfsmith.explore.stats import Estimate, estimate, paired_ratio

#: Tables of the file, with one line per entry.
TABLES = ("calc", "cells", "graphs", "ycsb")


def figures(found: Estimate, scale: float = 1.0, digits: int = 4) -> list[float]:
    """Return median, low and high, rounded to `digits` significant digits."""
    return [float(f"{value * scale:.{digits}g}") for value in (found.median, found.low, found.high)]


def estimate_of(kept: list[float]) -> Estimate:
    return Estimate(*kept)


def _latency_json(one: Measured) -> Json:
    """Return microseconds; ratios are composed / incoherent, so below 1 composed is faster."""
    count = min(sum(map(len, one.rounds[who])) for who in CONTENDERS)
    told = [percentile for percentile in PERCENTILES if enough(count, percentile)]
    both = compare(one.rounds[COMPOSED], one.rounds[INCOHERENT])
    found: Json = {}
    for who, figure in zip(CONTENDERS, (both.above, both.below), strict=True):
        rounds = one.rounds[who]
        found[who] = {
            "operations": sum(map(len, rounds)),
            "medians": [float(f"{statistics.median(some) * 1e6:.5g}") for some in rounds],
            **{f"p{p}": figures(figure[p], 1e6) for p in told},
        }
    return found | {"ratio": {f"p{p}": figures(both.ratio[p]) for p in told}}


def _bandwidth_json(one: Measured) -> Json:
    """Return MB/s; the ratio is composed / incoherent, so above 1 composed is faster."""
    rates = {who: [value for some in one.rounds[who] for value in some] for who in CONTENDERS}
    found: Json = {who: {"rate": figures(estimate(rates[who]), 1e-6)} for who in CONTENDERS}
    found["ratio"] = figures(paired_ratio(rates[COMPOSED], rates[INCOHERENT]))
    return found


def cell_json(one: Measured) -> Json:
    """Return the record of a cell."""
    cell = one.cell
    return {
        "graph": cell.graph,
        "scheme": cell.scheme,
        "task": cell.task,
        "shape": cell.shape,
        "length": cell.length,
        "slice": cell.slice,
        "window": cell.window,
        **(_latency_json(one) if cell.window == 1 else _bandwidth_json(one)),
    }


def graph_json(one: Measured) -> Json:
    return work_json(work_of(one.graph))
