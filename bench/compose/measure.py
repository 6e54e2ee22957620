"""One cell: both contenders go by turns, in rounds, each with a few operations."""

from __future__ import annotations

import random
import statistics
from dataclasses import dataclass, field
from typing import Any

from bench.compose.fleet import Runs
from bench.compose.plan import CONTENDERS, Cell, Effort

#: Operations before the first round, of each contender: connections, caches, the codecs' plans.
WARM = 3


@dataclass(slots=True)
class Measured:
    """By contender, round by round: seconds of operations if the window is 1, else bytes a second, one figure
    a round. counts: operations of a contender's part of a round."""

    cell: Cell
    graph: dict[str, Any]
    counts: dict[str, int] = field(default_factory=dict)
    rounds: dict[str, list[list[float]]] = field(default_factory=dict)


def latencies(times: list[tuple[float, float]]) -> list[float]:
    return [end - start for start, end in times]


def rate(cell: Cell, times: list[tuple[float, float]]) -> float:
    """Bytes made a second, from the first operation's beginning to the last one's end."""
    return cell.made * len(times) / (max(end for _, end in times) - min(start for start, _ in times))


def _count(fleet: Runs, cell: Cell, contender: str, effort: Effort) -> int:
    """How many operations of it take as long as a part of a round should."""
    warm = WARM * cell.window
    fleet.run(contender, warm)
    times = fleet.run(contender, warm)
    one = cell.window == 1
    seconds = statistics.median(latencies(times)) if one else cell.made / rate(cell, times)
    least = 2 * cell.window if cell.window > 1 else 1
    return max(min(int(effort.milliseconds / 1e3 / seconds), effort.most), least)


def measure(fleet: Runs, cell: Cell, effort: Effort) -> Measured:
    """Raises RunError."""
    chance = random.Random(cell.id)
    found = Measured(cell, fleet.open(cell))
    for contender in CONTENDERS:
        found.counts[contender] = _count(fleet, cell, contender, effort)
        found.rounds[contender] = []
    for _ in range(effort.rounds):
        for contender in chance.sample(CONTENDERS, len(CONTENDERS)):
            times = fleet.run(contender, found.counts[contender])
            found.rounds[contender].append(latencies(times) if cell.window == 1 else [rate(cell, times)])
    fleet.close()
    return found
