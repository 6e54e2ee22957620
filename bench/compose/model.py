"""The paper's model of an operation (section III-B): T = alpha c + beta, where c is the bytes of a chunk.

alpha is the cost of bytes (coding, copying, sending), beta the remaining cost (latency, states, the CPU's
part). A line is fitted to medians over chunks of 128 B to 16 MiB by least squares of relative errors, so that
every size has equal weight. Almost any data can be fitted roughly with two parameters, so the criterion is
the worst relative error: a line that misses a size by more than TOLERANCE does not fit, and the sizes that it
misses are reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy
from numpy.typing import NDArray
from scipy import optimize

from bench.compose.quantiles import DRAWS, around
from gfsmith.explore.stats import Estimate

#: Largest relative error of a line at a size at which it fits.
TOLERANCE = 0.25
#: Least number of sizes for the statement that two parameters describe them.
LEAST = 4


@dataclass(frozen=True, slots=True)
class Point:
    """Seconds at a chunk size, by round: medians of the operations of a round."""

    length: int
    seconds: Sequence[float]

    @property
    def median(self) -> float:
        return float(numpy.median(self.seconds))


@dataclass(frozen=True, slots=True)
class Fit:
    """alpha: seconds per byte; beta: seconds. errors: of the line, relative to the measurement, by size.
    reach: the largest size such that a line through the sizes up to it would fit them all; None: nowhere."""

    alpha: Estimate
    beta: Estimate
    errors: dict[int, float]
    reach: int | None

    @property
    def worst(self) -> float:
        return max(abs(error) for error in self.errors.values())

    @property
    def missed(self) -> list[int]:
        """Return the sizes at which the line is off by more than the tolerance."""
        return [length for length, error in self.errors.items() if abs(error) > TOLERANCE]

    @property
    def fits(self) -> bool:
        return not self.missed

    def at(self, length: float) -> float:
        return self.alpha.median * length + self.beta.median


def line(lengths: Sequence[int], seconds: Sequence[float] | NDArray[numpy.float64]) -> tuple[float, float]:
    """Return alpha and beta, both nonnegative, with the least sum of squares of relative errors."""
    times = numpy.asarray(seconds, dtype=float)
    scale = float(max(lengths))  # both columns near 1
    columns = numpy.column_stack([numpy.asarray(lengths, dtype=float) / scale, numpy.ones(len(times))])
    unit = float(times.max())
    found, _ = optimize.nnls(columns / times[:, None] * unit, numpy.ones(len(times)))
    return float(found[0] * unit / scale), float(found[1] * unit)


def _drawn_medians(points: Sequence[Point]) -> NDArray[numpy.float64]:
    """Return a row for each draw: medians of each point's rounds, drawn with replacement. Sizes are measured
    one after the other, so each has its own draws."""
    chance = numpy.random.default_rng(1)
    columns = []
    for point in points:
        times = numpy.asarray(point.seconds)
        columns.append(numpy.median(times[chance.integers(len(times), size=(DRAWS, len(times)))], axis=1))
    return numpy.column_stack(columns)


def _errors(points: Sequence[Point]) -> dict[int, float]:
    alpha, beta = line([point.length for point in points], [point.median for point in points])
    return {point.length: (alpha * point.length + beta) / point.median - 1 for point in points}


def _reach(points: Sequence[Point]) -> int | None:
    for count in range(len(points), LEAST - 1, -1):
        if max(map(abs, _errors(points[:count]).values())) <= TOLERANCE:
            return points[count - 1].length
    return None


def fit(points: Sequence[Point]) -> Fit:
    """Fit a line to points by size, smallest first.

    Raises ValueError for fewer than LEAST sizes, sizes in another order, and times that are not above 0."""
    if len({point.length for point in points}) < LEAST:
        raise ValueError(f"too few chunk sizes; allowed: {LEAST} or more")
    if any(second <= 0 for point in points for second in point.seconds):
        raise ValueError("times must be above 0")
    lengths = [point.length for point in points]
    if sorted(lengths) != lengths:
        raise ValueError("sizes must be in order, smallest first")
    alpha, beta = line(lengths, [point.median for point in points])
    drawn = numpy.asarray([line(lengths, row) for row in _drawn_medians(points)])
    slopes, starts = around(alpha, drawn[:, 0]), around(beta, drawn[:, 1])
    return Fit(slopes, starts, _errors(points), _reach(points))
