"""The model fitted to the measurements: a line for each graph and contender, an explanation of its slope, and
the projection to a faster network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.compose.model import LEAST, Fit, Point, fit
from bench.compose.plan import COMPOSED, CONTENDERS, ENCODE, NAMES, slice_of
from bench.compose.work import Network, Shared, Work, projected, shared, work_from
from bench.result_store import Json

#: Bytes per second of the paper's links, 100 Gb/s, in each direction.
LINK = 100e9 / 8


@dataclass(frozen=True, slots=True)
class Graph:
    """The measurements of one graph: cells by length, a line for each contender."""

    id: str
    scheme: str
    task: str
    shape: str
    cells: Mapping[int, Json]
    fits: Mapping[str, Fit]
    work: Work

    @property
    def title(self) -> str:
        return f"{NAMES[self.scheme]} {self.shape.replace(',', '+')} {self.task}"

    @property
    def encodes(self) -> bool:
        return self.task == ENCODE


def latency_cells(content: Json) -> list[Json]:
    """Return the latency cells of the grid, without the study of slices at other slices than ECPipe's own."""
    return [cell for name, cell in content["cells"].items() if name.startswith("latency/") and _own(cell)]


def _own(cell: Json) -> bool:
    return bool(cell["slice"] == slice_of(cell["scheme"], cell["length"]))


def _fit(cells: Sequence[Json], who: str) -> Fit:
    return fit([Point(cell["length"], [value * 1e-6 for value in cell[who]["medians"]]) for cell in cells])


def graphs(content: Json) -> list[Graph]:
    """Return all graphs with enough sizes for a line."""
    by_graph: dict[str, list[Json]] = {}
    for cell in latency_cells(content):
        by_graph.setdefault(cell["graph"], []).append(cell)
    found = []
    for name, cells in by_graph.items():
        if len(cells) < LEAST:
            continue
        cells.sort(key=lambda cell: int(cell["length"]))
        first = cells[0]
        lines = {who: _fit(cells, who) for who in CONTENDERS}
        work = work_from(content["graphs"][name])
        by_length = {cell["length"]: cell for cell in cells}
        found.append(Graph(name, first["scheme"], first["task"], first["shape"], by_length, lines, work))
    order = list(NAMES)
    return sorted(found, key=lambda g: (not g.encodes, order.index(g.scheme), g.work.transfers))


def slopes(found: Sequence[Graph], who: str) -> Shared:
    """Return the explanation of alpha by transfers and products, over all graphs. Raises ValueError for fewer
    than three."""
    return shared([graph.work for graph in found], [graph.fits[who].alpha.median for graph in found])


def product_seconds(content: Json) -> float:
    """Return the seconds in which one process here multiplies and adds a byte; the slowest of the measured
    shapes."""
    rates: list[float] = []
    for key, ns in content["calc"].items():
        inputs, outputs, length = map(int, key.split(","))
        rates.append(ns * 1e-9 / (inputs * outputs * length))
    return max(rates)


def projection(graph: Graph, length: int, product: float) -> tuple[float, float]:
    """Return the seconds of the composed contender at 100 Gb/s: for bytes and products only, and with this
    machine's latency, which is beta over the transfers of the longest path for each of these."""
    slices = length // (slice_of(graph.scheme, length) or length)
    hop = graph.fits[COMPOSED].beta.median / max(graph.work.hops, 1)
    least, most = (projected(graph.work, length, slices, Network(LINK, one, product)) for one in (0.0, hop))
    return least, most
