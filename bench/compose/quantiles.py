"""Percentiles of latencies that were measured in rounds, and how sure they are.

Neighbours in time are alike, so single operations are no independent samples; rounds, between which the other
contender runs, are nearly so. Intervals come of drawing rounds anew (bootstrap by blocks), for a ratio of two
contenders the same rounds of both.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy
from numpy.typing import NDArray

from gfsmith.stats import CONFIDENCE, Estimate

#: Latencies of one contender, round by round.
Rounds = Sequence[Sequence[float]] | Sequence[NDArray[numpy.float64]]

PERCENTILES = (50, 95, 99)
#: So many operations must lie above a percentile for it to be stated.
BEYOND = 3
DRAWS = 400


@dataclass(frozen=True, slots=True)
class Comparison:
    """By percentile: of one contender, of the other, and the ratio of the first one's to the other's."""

    above: dict[int, Estimate]
    below: dict[int, Estimate]
    ratio: dict[int, Estimate]


def enough(count: int, percentile: int) -> bool:
    """Whether a percentile of so many operations says anything. The median always does: its interval says how
    much."""
    return percentile == 50 or count * (100 - percentile) >= 100 * BEYOND


def percentiles(rounds: Rounds) -> NDArray[numpy.float64]:
    """Each percentile: the least value that so many percent of all operations do not exceed.

    Raises ValueError for no operations."""
    pooled = numpy.concatenate([numpy.asarray(one, dtype=float) for one in rounds])
    if len(pooled) == 0:
        raise ValueError("no operations")
    at = [max(-(-percentile * len(pooled) // 100), 1) - 1 for percentile in PERCENTILES]
    found: NDArray[numpy.float64] = numpy.partition(pooled, at)[at]
    return found


def draws(count: int) -> list[list[int]]:
    """Numbers of rounds, drawn with replacement, again and again; the same ones each time."""
    chance = random.Random(1)
    return [[chance.randrange(count) for _ in range(count)] for _ in range(DRAWS)]


def around(value: float, values: NDArray[numpy.float64]) -> Estimate:
    """A value and the interval of those drawn; the interval of few rounds may miss it."""
    low, high = numpy.quantile(values, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Estimate(value, min(float(low), value), max(float(high), value))


def compare(above: Rounds, below: Rounds) -> Comparison:
    """Raises ValueError for unequal numbers of rounds, and for no operations."""
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
    """Of a ratio of times: 1 surely slower, -1 surely faster, 0 cannot be told."""
    return int(figure.low > 1) - int(figure.high < 1)
