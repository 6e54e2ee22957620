"""Choice of the winner: ties go to the simpler variant, and only a clear gain replaces the reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log

from gfsmith.explore.tune.result import Cell, Choice, Interval, Measurement, Winner
from gfsmith.explore.tune.space import Plan, complexity

#: Least gain, by the lower end of the interval, that justifies another kernel in every build.
WORTH = 1.01
#: Least relative speed, by the lower end of the interval, that a kernel needs at every length of a path.
TOLERATED = 0.99

Final = Mapping[Plan, Measurement]


def tie(speeds: Mapping[Plan, Interval], reference: Plan) -> list[Plan]:
    """Return all variants whose intervals overlap the fastest one's, the simplest first. Variants that also
    overlap a simpler one outside of the tie come last, since they are not measurably better than it."""
    best = max(speeds.values(), key=lambda s: s.median)
    order = {plan: (*complexity(plan, reference), plan.symbol) for plan in speeds}
    tied = [plan for plan, speed in speeds.items() if speed.overlaps(best)]
    slower = [plan for plan in speeds if plan not in tied]

    def doubtful(plan: Plan) -> bool:
        return any(order[s] < order[plan] and speeds[s].overlaps(speeds[plan]) for s in slower)

    return sorted(tied, key=lambda plan: (doubtful(plan), order[plan]))


def winner(cell: Cell, final: Final, reference: Plan) -> Winner:
    """Return the simplest of the variants that tie with the fastest and are clearly faster than simpler
    ones."""
    tied = tie({plan: m.speed for plan, m in final.items()}, reference)
    first = tied[0]
    return Winner(
        cell=cell,
        symbols=first.symbols,
        parameters=first.parameters,
        tied=tuple(plan.symbol for plan in tied),
        speed=final[first].speed,
        rate=final[first].rate,
        changed=first != reference,
    )


def _mean(speeds: Sequence[Interval]) -> Interval:
    """Return the geometric means of the medians and of the ends."""

    def mean(values: Sequence[float]) -> float:
        return exp(sum(log(v) for v in values) / len(values))

    return Interval(
        mean([s.median for s in speeds]), mean([s.low for s in speeds]), mean([s.high for s in speeds])
    )


def choice(target: str, path: str, finals: Mapping[int, Final], reference: Plan) -> Choice | None:
    """Return the kernel for a path, from the kernels measured at all its block lengths: it loses at none,
    gains at one at least, and is the simplest of those that tie over all lengths. None: the reference stays.

    Dispatch distinguishes paths and not lengths, so one kernel serves all of them. A variant with other
    passes than the reference is not eligible: the split of outputs is a property of the build.
    """
    shared = [p for p in next(iter(finals.values())) if all(p in final for final in finals.values())]
    speeds = {
        plan: [final[plan].speed for final in finals.values()]
        for plan in shared
        if len(plan.specs) == len(reference.specs)
    }
    fit = {
        plan: _mean(found)
        for plan, found in speeds.items()
        if plan == reference
        or (min(s.low for s in found) >= TOLERATED and max(s.low for s in found) >= WORTH)
    }
    chosen = tie(fit, reference)[0]
    if chosen == reference:
        return None
    gains = {length: final[chosen].speed for length, final in finals.items()}
    return Choice(target, path, chosen.symbols, chosen.parameters, gains)
