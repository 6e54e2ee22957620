"""The file of choices between composed and incoherent (gfsmith_choices_read), from measured latencies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.compose.fits import latency_cells
from bench.compose.quantiles import verdict
from bench.compose.results import estimate_of
from bench.result_store import Json
from gfsmith.emit.files import replacing

UNLIMITED = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Choice:
    """A graph is composed for chunks of least to most bytes, and otherwise incoherent."""

    scheme: str
    task: str
    k: int
    m: int
    least: int
    most: int

    @property
    def line(self) -> str:
        return f"{self.scheme} {self.task} {self.k} {self.m} {self.least} {self.most}"


def _longest(flags: Sequence[bool]) -> tuple[int, int] | None:
    """Return first and last index of the longest run of true flags; the first of equally long ones."""
    best: tuple[int, int] | None = None
    begin = 0
    for n, flag in enumerate([*flags, False]):
        if flag:
            continue
        if n > begin and (best is None or n - begin > best[1] - best[0] + 1):
            best = begin, n - 1
        begin = n + 1
    return best


def _range(cells: Sequence[Json]) -> tuple[int, int]:
    """Return the lengths for which a graph is composed: the longest row of measured lengths in which it is
    not significantly slower at the median. A row that reaches the least or greatest measured length has no
    limit there."""
    fine = [verdict(estimate_of(cell["ratio"]["p50"])) <= 0 for cell in cells]
    found = _longest(fine)
    if found is None:
        return 1, 0
    first, last = found
    least = 0 if first == 0 else cells[first]["length"]
    return least, UNLIMITED if last == len(cells) - 1 else cells[last]["length"]


def choices(content: Json) -> Iterator[Choice]:
    """Yield the choice of every graph with measured latencies, in the order of their names."""
    by_graph: dict[str, list[Json]] = {}
    for cell in latency_cells(content):
        by_graph.setdefault(cell["graph"], []).append(cell)
    for _, cells in sorted(by_graph.items()):
        cells.sort(key=lambda cell: int(cell["length"]))
        first = cells[0]
        k, *parities = map(int, first["shape"].split(","))
        yield Choice(first["scheme"], first["task"], k, sum(parities), *_range(cells))


def write(content: Json, path: Path) -> int:
    """Write the choices; return how many graphs are not always composed."""
    found = list(choices(content))
    text = ["# SCHEME TASK K M LEAST MOST: composed for chunks of LEAST to MOST bytes, otherwise incoherent."]
    text += [
        f"# Measured on {content['machine']}, provider {content['method']['provider']}, by bench.compose."
    ]
    with replacing(path) as fresh:
        fresh.write_text("\n".join([*text, *(one.line for one in found)]) + "\n")
    return sum((one.least, one.most) != (0, UNLIMITED) for one in found)
