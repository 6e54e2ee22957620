"""Who is ahead, from interleaved samples, without favouring whoever was picked for being ahead.

The best of many static policies is partly the luckiest. So it is picked on one half of the rounds and
compared on the other, and the same with the halves exchanged: every round takes part in one comparison,
always with a winner that was picked without it. The price: a winner picked from half the rounds may be second
best, so where policies are as good as equal the static best comes out a little too slow, by less than they
differ.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gfsmith.stats import Estimate, estimate

#: The adaptive policy may be so far behind the best static one.
MARGIN = 0.03

Samples = Mapping[str, Sequence[float]]  #: nanoseconds by contender, one for each round


@dataclass(frozen=True, slots=True)
class Comparison:
    """A contender's time over the best static policy's; winners: picked on the even and on the odd rounds."""

    ratio: Estimate
    winners: tuple[str, str]


def fastest(ns: Samples, among: Sequence[str], rounds: Sequence[int]) -> str:
    """Who has the least median of its time over the first one's, over these rounds."""
    reference = ns[among[0]]
    return min(among, key=lambda name: statistics.median(ns[name][r] / reference[r] for r in rounds))


def against_best(ns: Samples, who: str, static: Sequence[str]) -> Comparison:
    """Compare with the best of `static`, picked on other rounds than it is judged on.

    Raises ValueError for fewer than two rounds.
    """
    rounds = range(len(ns[who]))
    halves = (rounds[::2], rounds[1::2])
    if not halves[1]:
        raise ValueError("two rounds at least: one to pick the best, one to judge it")
    winners = [fastest(ns, static, half) for half in halves]
    judged = zip(winners, reversed(halves), strict=True)
    ratios = [ns[who][r] / ns[winner][r] for winner, half in judged for r in half]
    return Comparison(estimate(ratios), (winners[0], winners[1]))


def behind(ratio: Estimate) -> bool:
    """More than the margin behind, going by the median."""
    return ratio.median > 1 + MARGIN


def surely_behind(ratio: Estimate) -> bool:
    """More than the margin behind with the whole interval."""
    return ratio.low > 1 + MARGIN


def within(ratios: Sequence[float], window: int) -> int | None:
    """The first round from which on a contender is within the margin: there, in the median of the `window`
    rounds that begin there, and in the median of all the rest. None if there is none, 0 if all along."""
    near = [ratio <= 1 + MARGIN for ratio in ratios]
    for at in range(max(len(ratios) - window + 1, 0)):
        medians = statistics.median(ratios[at : at + window]), statistics.median(ratios[at:])
        if near[at] and max(medians) <= 1 + MARGIN:
            return at
    return None
