"""Measurement of one cell: both contenders alternate, in rounds of a few operations each."""

from __future__ import annotations

import random
import statistics
from dataclasses import dataclass, field
from typing import Any

from bench.compose.fleet import Runs
from bench.compose.plan import CONTENDERS, Cell, Effort

#: Operations that determine the number of operations of a round, if they are short.
WARM = 5


@dataclass(slots=True)
class Measured:
    """The measurements by contender and round: seconds of operations if the window is 1, otherwise bytes per
    second, one figure per round. counts: operations of a contender's part of a round."""

    cell: Cell
    graph: dict[str, Any]
    counts: dict[str, int] = field(default_factory=dict)
    rounds: dict[str, list[list[float]]] = field(default_factory=dict)


def latencies(times: list[tuple[float, float]]) -> list[float]:
    return [end - start for start, end in times]


def rate(cell: Cell, times: list[tuple[float, float]]) -> float:
    """Return the bytes produced per second, from the first operation's beginning to the last one's end."""
    return cell.made * len(times) / (max(end for _, end in times) - min(start for start, _ in times))


def _seconds(cell: Cell, times: list[tuple[float, float]]) -> float:
    """Return the seconds of an operation, estimated from a part of a round."""
    return statistics.median(latencies(times)) if cell.window == 1 else cell.made / rate(cell, times)


def _try(fleet: Runs, cell: Cell, contender: str, effort: Effort) -> float:
    """Return the seconds of an operation after warm-up; long operations are warm after the first."""
    fleet.run(contender, cell.window)
    seconds = _seconds(cell, fleet.run(contender, cell.window))
    if WARM * seconds > effort.milliseconds / 1e3:
        return seconds
    return _seconds(cell, fleet.run(contender, WARM * cell.window))


def _count(seconds: float, cell: Cell, effort: Effort) -> int:
    """Return the number of operations in a part of a round."""
    return max(min(int(effort.milliseconds / 1e3 / seconds), effort.most), cell.window)


def _rounds(seconds: float, cell: Cell, effort: Effort) -> int:
    """Return the number of rounds of this many seconds that fit into the time."""
    least = effort.least if cell.window == 1 else effort.least_wide
    return max(min(int(effort.seconds / seconds), effort.rounds), least)


def measure(fleet: Runs, cell: Cell, effort: Effort) -> Measured:
    """Raises RunError."""
    chance = random.Random(cell.id)
    found = Measured(cell, fleet.open(cell))
    total = 0.0
    for contender in CONTENDERS:
        seconds = _try(fleet, cell, contender, effort)
        found.counts[contender] = _count(seconds, cell, effort)
        found.rounds[contender] = []
        total += found.counts[contender] * seconds
    for _ in range(_rounds(total, cell, effort)):
        for contender in chance.sample(CONTENDERS, len(CONTENDERS)):
            times = fleet.run(contender, found.counts[contender])
            found.rounds[contender].append(latencies(times) if cell.window == 1 else [rate(cell, times)])
    fleet.close()
    return found
