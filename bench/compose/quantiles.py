"""Percentiles of latencies that were measured in rounds, and how sure they are.

Neighbours in time are alike, so single operations are no independent samples; rounds, between which the other
contender runs, are nearly so. Intervals come of drawing rounds anew (bootstrap by blocks), for a ratio of two
contenders the same rounds of both.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import numpy

from gfsmith.stats import CONFIDENCE, Estimate

Rounds = Sequence[Sequence[float]]  #: latencies of one contender, round by round

PERCENTILES = (50, 95, 99)
#: So many operations must lie above a percentile for it to be stated.
BEYOND = 3
DRAWS = 400


def enough(count: int, percentile: int) -> bool:
    """Whether a percentile of so many operations says anything."""
    return count * (100 - percentile) >= 100 * BEYOND


def percentile_of(rounds: Rounds, percentile: int) -> float:
    """The least value that so many percent of all operations do not exceed. Raises ValueError for none."""
    pooled = sorted(value for one in rounds for value in one)
    if not pooled:
        raise ValueError("no operations")
    return pooled[max(-(-percentile * len(pooled) // 100), 1) - 1]


def drawn(count: int, statistic: Callable[[Sequence[int]], float], draws: int = DRAWS) -> tuple[float, float]:
    """The interval of a statistic of rounds, which gets the numbers of rounds drawn with replacement."""
    chance = random.Random(1)
    values = [statistic([chance.randrange(count) for _ in range(count)]) for _ in range(draws)]
    low, high = numpy.quantile(values, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(low), float(high)


def _around(value: float, interval: tuple[float, float]) -> Estimate:
    """The interval of few rounds may miss the value by rounding."""
    return Estimate(value, min(interval[0], value), max(interval[1], value))


def spread(rounds: Rounds, percentile: int) -> Estimate:
    """A percentile of all operations, and its interval."""
    interval = drawn(len(rounds), lambda some: percentile_of([rounds[n] for n in some], percentile))
    return _around(percentile_of(rounds, percentile), interval)


def ratio(above: Rounds, below: Rounds, percentile: int) -> Estimate:
    """One contender's percentile over the other's. Raises ValueError for unequal numbers of rounds."""
    if len(above) != len(below):
        raise ValueError(f"{len(above)} rounds of one contender and {len(below)} of the other")

    def of(some: Sequence[int]) -> float:
        up, down = ([side[n] for n in some] for side in (above, below))
        return percentile_of(up, percentile) / percentile_of(down, percentile)

    return _around(of(range(len(above))), drawn(len(above), of))


def verdict(figure: Estimate) -> int:
    """Of a ratio of times: 1 surely slower, -1 surely faster, 0 cannot be told."""
    return int(figure.low > 1) - int(figure.high < 1)
