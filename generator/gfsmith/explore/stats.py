"""Medians of paired ratios, and confidence intervals without an assumption about the distribution of times.

Other tenants of the machine slow a sample down by an unknown factor, and samples that follow each other by
about the same factor. So contenders are compared within a round only, and the median over the rounds is
taken.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Estimate:
    """A median and its interval: low <= median <= high."""

    median: float
    low: float
    high: float

    def overlaps(self, other: Estimate) -> bool:
        return self.low <= other.high and other.low <= self.high

    def as_json(self) -> dict[str, float]:
        return {name: round(getattr(self, name), 4) for name in ("median", "low", "high")}


def interval_rank(count: int, confidence: float = CONFIDENCE) -> int:
    """Return the largest r for which [x_(r), x_(count + 1 - r)] covers the median with the given confidence.

    Each of n independent samples is below the median with probability 1/2, so the interval misses it
    with probability 2 P(B < r), B binomial(n, 1/2). The result is at least 1: with fewer than 6 samples, even
    the whole range has less than 95 % confidence, and no larger interval exists.
    """
    if count < 1:
        raise ValueError("no samples")
    below, rank = 0.0, 0
    while rank < (count + 1) // 2:
        below += math.comb(count, rank) / 2**count
        if 2 * below > 1 - confidence:
            break
        rank += 1
    return max(rank, 1)


def estimate(samples: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """Return the median and order-statistic interval of independent samples."""
    ordered = sorted(samples)
    rank = interval_rank(len(ordered), confidence)
    return Estimate(statistics.median(ordered), ordered[rank - 1], ordered[-rank])


def rank_correlation(predicted: Sequence[float], measured: Sequence[float]) -> float | None:
    """Return Spearman's rho of two lists of figures for the same things: 1 if they order them equally, -1 if
    in opposite order; None for fewer than 3 things, or if all figures of a list are equal.

    Predicted cycles correlate with times, not with throughputs. Raises ValueError for unequal lengths.
    """
    from scipy import stats  # loading takes a second

    if len(predicted) != len(measured):
        raise ValueError(f"{len(predicted)} predicted figures and {len(measured)} measured ones")
    if len(predicted) < 3 or len(set(predicted)) == 1 or len(set(measured)) == 1:
        return None
    return float(stats.spearmanr(predicted, measured).statistic)


def paired_ratio(numerator: Sequence[float], denominator: Sequence[float]) -> Estimate:
    """Return the median over the rounds of numerator / denominator within a round."""
    return estimate([a / b for a, b in zip(numerator, denominator, strict=True)])
