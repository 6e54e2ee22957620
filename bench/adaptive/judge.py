"""Comparison with the best of several contenders from interleaved samples, without selection bias.

The best of many static policies is partly the luckiest. So it is selected on one half of the rounds and
compared on the other half, and then with the halves exchanged. Every round takes part in one comparison,
always with a winner that was selected without it. The disadvantage: a winner selected on half of the rounds
may be the second best, so the static best comes out slightly too slow if policies are almost equal, by less
than they differ.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gfsmith.explore.stats import Estimate, estimate

#: The adaptive policy may be slower than the best static one by this fraction.
MARGIN = 0.03

Samples = Mapping[str, Sequence[float]]  #: nanoseconds by contender, one for each round


@dataclass(frozen=True, slots=True)
class Comparison:
    """A contender's time over the best static policy's; winners: selected on the even and on the odd
    rounds."""

    ratio: Estimate
    winners: tuple[str, str]


def fastest(ns: Samples, among: Sequence[str], rounds: Sequence[int]) -> str:
    """Return the contender with the least median of its time over the first one's, over these rounds."""
    reference = ns[among[0]]
    return min(among, key=lambda name: statistics.median(ns[name][r] / reference[r] for r in rounds))


def against_best(ns: Samples, who: str, static: Sequence[str]) -> Comparison:
    """Compare with the best of `static`, selected on other rounds than those of the comparison.

    Raises ValueError for fewer than two rounds.
    """
    rounds = range(len(ns[who]))
    halves = (rounds[::2], rounds[1::2])
    if not halves[1]:
        raise ValueError("too few rounds; allowed: 2 or more")
    winners = [fastest(ns, static, half) for half in halves]
    judged = zip(winners, reversed(halves), strict=True)
    ratios = [ns[who][r] / ns[winner][r] for winner, half in judged for r in half]
    return Comparison(estimate(ratios), (winners[0], winners[1]))


def behind(ratio: Estimate) -> bool:
    """Return whether the median is more than the margin behind."""
    return ratio.median > 1 + MARGIN


def significantly_behind(ratio: Estimate) -> bool:
    """Return whether the whole interval is more than the margin behind."""
    return ratio.low > 1 + MARGIN


def within(ratios: Sequence[float], window: int) -> int | None:
    """Return the first round from which a contender is within the margin: in the median of the next `window`
    rounds, and in the median of all remaining rounds. None if there is none, 0 if it always is."""
    near = [ratio <= 1 + MARGIN for ratio in ratios]
    for at in range(max(len(ratios) - window + 1, 0)):
        medians = statistics.median(ratios[at : at + window]), statistics.median(ratios[at:])
        if near[at] and max(medians) <= 1 + MARGIN:
            return at
    return None
