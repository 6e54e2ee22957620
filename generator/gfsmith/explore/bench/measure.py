"""Paired measurements: in each round every contender runs once, in a random order."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gfsmith.explore import stats
from gfsmith.explore.bench import contenders
from gfsmith.explore.bench.contenders import Contender, Work
from gfsmith.explore.bench.stripes import Stripes
from gfsmith.explore.stats import Estimate

#: Nanoseconds that one sample takes at least.
SAMPLE = 3e6
#: Rounds of a cell at least, however long they take: fewer give no interval.
LEAST = 9


@dataclass(frozen=True, slots=True)
class Figure:
    """One contender in one cell. rate: GB of source data per second. ratio: gfsmith's rate over this one,
    paired within the rounds."""

    work: Work
    place: str
    contender: str
    rate: Estimate
    ratio: Estimate
    rounds: int

    def as_json(self) -> dict[str, Any]:
        return {
            "work": self.work.value,
            "shards": self.place,
            "contender": self.contender,
            "rate": self.rate.as_json(),
            "ratio": self.ratio.as_json(),
            "rounds": self.rounds,
        }


def _calls(contender: Contender, stripes: Stripes) -> int:
    """Return the number of calls of one sample."""
    calls, taken = 1, contender.time(stripes, 0, 1)
    while taken < SAMPLE / 2:
        calls *= 2
        taken = contender.time(stripes, 0, calls)
    return max(1, round(calls * SAMPLE / taken))


def measure(
    what: contenders.Task,
    place: str,
    stripes: Stripes,
    found: Sequence[Contender],
    seconds: float,
    advance: Callable[[float], None],
) -> list[Figure]:
    """Return the figures of all contenders in a cell. advance(s) is called with the seconds that passed."""
    order, begin = random.Random(1), time.monotonic()
    calls = {each.name: _calls(each, stripes) for each in found}
    times: dict[str, list[float]] = {each.name: [] for each in found}
    reported, rounds = begin, 0
    while rounds < LEAST or time.monotonic() - begin < seconds:
        for each in order.sample(found, len(found)):
            first = order.randrange(stripes.count)
            times[each.name].append(each.time(stripes, first, calls[each.name]) / calls[each.name])
        rounds, now = rounds + 1, time.monotonic()
        advance(now - reported)
        reported = now
    size, base = len(what.sources) * stripes.length, times[found[0].name]
    return [
        Figure(
            what.work,
            place,
            name,
            stats.estimate([size / taken for taken in series]),
            stats.paired_ratio(series, base),
            rounds,
        )
        for name, series in times.items()
    ]
