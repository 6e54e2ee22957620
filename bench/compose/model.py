"""The paper's model of an operation (section III-B): T = alpha c + beta, with c the bytes of a chunk.

alpha is what bytes cost (coding, copying, sending), beta what there is of the rest (latency, states, the
CPU's part). A line is fitted to medians over chunks of 128 B to 16 MiB by least squares of relative errors,
so that every size counts alike. Two figures fit nearly anything a little: therefore what counts is the worst
relative error, and a line that misses a size by more than TOLERANCE is said not to fit, with the sizes it
misses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy
from numpy.typing import NDArray
from scipy import optimize

from bench.compose.quantiles import intervals
from gfsmith.stats import Estimate

#: Relative error of a line at a size, at most, for it to fit there.
TOLERANCE = 0.25
#: Sizes that are needed to say that two figures describe them.
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
    """alpha: seconds a byte; beta: seconds. errors: of the line, relative to what was measured, by size."""

    alpha: Estimate
    beta: Estimate
    errors: dict[int, float]

    @property
    def worst(self) -> float:
        return max(abs(error) for error in self.errors.values())

    @property
    def missed(self) -> list[int]:
        """The sizes at which the line is off by more than the tolerance."""
        return [length for length, error in self.errors.items() if abs(error) > TOLERANCE]

    @property
    def fits(self) -> bool:
        return not self.missed

    def at(self, length: float) -> float:
        return self.alpha.median * length + self.beta.median


def line(lengths: Sequence[int], seconds: Sequence[float] | NDArray[numpy.float64]) -> tuple[float, float]:
    """alpha and beta, neither negative, with the least sum of squares of relative errors."""
    times = numpy.asarray(seconds, dtype=float)
    scale = float(max(lengths))  # both columns near 1
    columns = numpy.column_stack([numpy.asarray(lengths, dtype=float) / scale, numpy.ones(len(times))])
    unit = float(times.max())
    found, _ = optimize.nnls(columns / times[:, None] * unit, numpy.ones(len(times)))
    return float(found[0] * unit / scale), float(found[1] * unit)


def fit(points: Sequence[Point]) -> Fit:
    """Raises ValueError for fewer than LEAST sizes, unequal numbers of rounds, times that are not above 0."""
    if len({point.length for point in points}) < LEAST:
        raise ValueError(f"{LEAST} chunk sizes at least, to see whether a line fits them")
    rounds = len(points[0].seconds)
    if any(len(point.seconds) != rounds for point in points):
        raise ValueError("unequal numbers of rounds")
    if any(second <= 0 for point in points for second in point.seconds):
        raise ValueError("times must be above 0")
    lengths = [point.length for point in points]
    alpha, beta = line(lengths, [point.median for point in points])
    times = numpy.asarray([point.seconds for point in points])

    def drawn(some: Sequence[int]) -> tuple[float, float]:
        return line(lengths, numpy.median(times[:, some], axis=1))

    errors = {p.length: (alpha * p.length + beta) / p.median - 1 for p in points}
    slope, start = intervals((alpha, beta), rounds, drawn)
    return Fit(slope, start, errors)
