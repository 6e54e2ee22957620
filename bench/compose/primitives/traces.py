"""Trace files of the stripe store (apps/stripe-store/common/trace.h): latencies of operations and reads."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.compose.primitives.counts import name
from bench.run import RunError

#: The reads of healthy stripes, and those that computed chunks; writes.
HEALTHY, DEGRADED, WRITE = "healthy read", "degraded read", "write"
AGENT = 0
Interval = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Part:
    """A node's part of a graph, under one name for all nodes with the same part."""

    graph: str
    primitive: str
    agent: bool

    @property
    def title(self) -> str:
        return f"{self.graph}: {self.primitive} at {'the agent' if self.agent else 'chunk servers'}"


@dataclass(slots=True)
class Latencies:
    """Microseconds by round: of the parts of graphs, and of whole reads and writes at the agent."""

    parts: dict[Part, list[list[float]]] = field(default_factory=dict)
    whole: dict[str, list[list[float]]] = field(default_factory=dict)


def _round_of(intervals: Sequence[Interval], time: int) -> int | None:
    """Return the interval that contains a time. The intervals ascend and do not overlap."""
    at = bisect_right(intervals, (time, 1 << 63)) - 1
    return at if at >= 0 and time <= intervals[at][1] else None


def _lines(path: Path) -> Iterator[list[str]]:
    """Yield the fields of all lines. Raises RunError for a line that is not one of a trace."""
    sizes = {"operation": 8, "graph": 4, "read": 4, "write": 3}
    for line in path.read_text().splitlines():
        words = line.split()
        if len(words) < 2 or len(words) != sizes.get(words[1]) or not words[0].isdigit():
            raise RunError(f"a line of the trace {path.name} cannot be read: {line[:80]}")
        yield words


def _graphs(folder: Path) -> dict[str, str]:
    """Return the kinds of all graphs by job; the agent writes them."""
    return {words[2]: words[3] for words in _lines(folder / str(AGENT)) if words[1] == "graph"}


def read(folder: Path, intervals: Sequence[Interval]) -> Latencies:
    """Return the latencies of successful operations that ended inside of an interval, by interval.

    Raises RunError for files that are no traces, and for operations that failed or belong to no graph."""
    kinds = _graphs(folder)
    parts: dict[Part, list[list[float]]] = defaultdict(lambda: [[] for _ in intervals])
    whole: dict[str, list[list[float]]] = defaultdict(lambda: [[] for _ in intervals])
    for path in sorted(folder.iterdir(), key=lambda one: int(one.name)):
        for time, what, *rest in _lines(path):
            at = _round_of(intervals, int(time))
            if at is None or what == "graph":
                continue
            if what == "operation":
                job, primitive, calculator, _, took, status = rest
                if status != "0" or job not in kinds:
                    raise RunError(f"operation {job} of rank {path.name} failed, or belongs to no graph")
                words = name({"primitive": int(primitive), "calculator": int(calculator)})
                parts[Part(kinds[job], words, int(path.name) == AGENT)][at].append(int(took) / 1e3)
            elif what == "read":
                whole[HEALTHY if rest[0] == "0" else DEGRADED][at].append(int(rest[1]) / 1e3)
            else:
                whole[WRITE][at].append(int(rest[0]) / 1e3)
    return Latencies(dict(parts), dict(whole))
