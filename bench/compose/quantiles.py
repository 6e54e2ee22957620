"""Percentiles of latencies that were measured in rounds, with their intervals.

Consecutive operations are similar, so single operations are not independent samples; rounds, between which
the other contender runs, are nearly independent. Intervals come from a bootstrap over rounds, with the same
rounds of both contenders for a ratio.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy
from numpy.typing import NDArray

from gfsmith.explore.stats import CONFIDENCE, Estimate

#: Latencies of one contender, round by round.
Rounds = Sequence[Sequence[float]] | Sequence[NDArray[numpy.float64]]

PERCENTILES = (50, 95, 99)
#: Least number of operations above a percentile that is reported.
BEYOND = 3
DRAWS = 400


@dataclass(frozen=True, slots=True)
class Comparison:
    """By percentile: one contender, the other contender, and the ratio of the first to the second."""

    above: dict[int, Estimate]
    below: dict[int, Estimate]
    ratio: dict[int, Estimate]


def enough(count: int, percentile: int) -> bool:
    """Return whether this many operations determine a percentile. The median is always reported with its
    interval."""
    return percentile == 50 or count * (100 - percentile) >= 100 * BEYOND


def percentiles(rounds: Rounds) -> NDArray[numpy.float64]:
    """Return each percentile: the least value that this share of all operations does not exceed.

    Raises ValueError for no operations."""
    pooled = numpy.concatenate([numpy.asarray(one, dtype=float) for one in rounds])
    if len(pooled) == 0:
        raise ValueError("no operations")
    at = [max(-(-percentile * len(pooled) // 100), 1) - 1 for percentile in PERCENTILES]
    found: NDArray[numpy.float64] = numpy.partition(pooled, at)[at]
    return found


def draws(count: int) -> list[list[int]]:
    """Return numbers of rounds, drawn with replacement many times; the draws are always the same."""
    chance = random.Random(1)
    return [[chance.randrange(count) for _ in range(count)] for _ in range(DRAWS)]


def around(value: float, values: NDArray[numpy.float64]) -> Estimate:
    """Return a value with the interval of the drawn values; with few rounds the interval may miss the
    value."""
    low, high = numpy.quantile(values, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Estimate(value, min(float(low), value), max(float(high), value))


def compare(above: Rounds, below: Rounds) -> Comparison:
    """Compare two contenders. Raises ValueError for unequal numbers of rounds, and for no operations."""
    if len(above) != len(below):
        raise ValueError(f"{len(above)} rounds of one contender and {len(below)} of the other")
    sides = [[numpy.asarray(one, dtype=float) for one in side] for side in (above, below)]
    values = [percentiles(side) for side in sides]
    drawn = [
        numpy.asarray([percentiles([side[n] for n in some]) for some in draws(len(side))]) for side in sides
    ]
    values.append(values[0] / values[1])
    drawn.append(drawn[0] / drawn[1])
    found = [
        {p: around(float(value[n]), many[:, n]) for n, p in enumerate(PERCENTILES)}
        for value, many in zip(values, drawn, strict=True)
    ]
    return Comparison(*found)


def verdict(figure: Estimate) -> int:
    """Return 1 if a ratio of times means significantly slower, -1 if significantly faster, else 0."""
    return int(figure.low > 1) - int(figure.high < 1)
