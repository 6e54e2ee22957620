"""The pictures of docs/compose.md, from results.json."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.build import ROOT
from bench.compose.fits import Graph, product_seconds, projection
from bench.compose.plan import COMPOSED, CONTENDERS, INCOHERENT, LENGTHS, NAMES, size
from bench.kept import Json
from gfsmith.files import replacing

matplotlib.use("Agg")

FOLDER = ROOT / "docs" / "pictures"
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "gfsmith", "font.size": 9, "font.family": "DejaVu Sans"}
COLOURS = {COMPOSED: "#c1121f", INCOHERENT: "#1d3557"}
SCHEMES = {"rs": "#1d3557", "lrc": "#2a9d8f", "ppr": "#e9a03b", "ecpipe": "#c1121f", "triec": "#8d99ae"}


def _panels(title: str, count: int, columns: int, width: float = 3.4) -> tuple[Figure, list[Axes]]:
    rows = -(-count // columns)
    figure, axes = pyplot.subplots(
        rows, columns, figsize=(width * columns, 0.8 * width * rows), squeeze=False, layout="constrained"
    )
    figure.suptitle(title, fontsize=10)
    flat = list(axes.flat)
    for unused in flat[count:]:
        unused.set_visible(False)
    return figure, flat[:count]


def _by_size(axes: Axes, title: str) -> None:
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks([LENGTHS[n] for n in (0, 3, 5, 7, 9)])
    axes.set_xticklabels([size(LENGTHS[n]) for n in (0, 3, 5, 7, 9)], fontsize=7)
    axes.minorticks_off()
    axes.set_title(title, fontsize=9)
    axes.grid(alpha=0.3)


def _latency(content: Json, found: Sequence[Graph]) -> Figure | None:
    """p50 as a line, p95 and p99 as a band above it."""
    found = [graph for graph in found if graph.shape.startswith("6,")]
    if not found:
        return None
    figure, axes = _panels("Latency in microseconds by chunk: p50, and the band up to p99", len(found), 4)
    for axis, graph in zip(axes, found, strict=True):
        for who in CONTENDERS:
            points = sorted(graph.cells.items())
            axis.plot(
                [n for n, _ in points],
                [cell[who]["p50"][0] for _, cell in points],
                "o-",
                color=COLOURS[who],
                markersize=2.5,
                linewidth=1,
                label=who,
            )
            high = [(n, cell[who]) for n, cell in points if "p99" in cell[who]]
            low, top = ([cell[p][0] for _, cell in high] for p in ("p50", "p99"))
            axis.fill_between([n for n, _ in high], low, top, color=COLOURS[who], alpha=0.12, linewidth=0)
        _by_size(axis, graph.title)
    axes[0].legend(fontsize=7, frameon=False)
    return figure


def _model(content: Json, found: Sequence[Graph]) -> Figure | None:
    """Points and the fitted line, both contenders."""
    if not found:
        return None
    figure, axes = _panels("alpha c + beta (lines) over medians (points), microseconds", len(found), 4)
    for axis, graph in zip(axes, found, strict=True):
        for who, marker in zip(CONTENDERS, "ox", strict=True):
            line, lengths = graph.fits[who], sorted(graph.cells)
            points = [graph.cells[n][who]["p50"][0] for n in lengths]
            axis.plot(lengths, points, marker, color=COLOURS[who], markersize=3, label=who)
            axis.plot(lengths, [line.at(n) * 1e6 for n in lengths], "-", color=COLOURS[who], linewidth=0.8)
        _by_size(axis, graph.title)
    axes[0].legend(fontsize=7, frameon=False)
    return figure


def _bandwidth(content: Json, found: Sequence[Graph]) -> Figure | None:
    cells = [cell for key, cell in content["cells"].items() if key.startswith("bandwidth/")]
    if not cells:
        return None
    figure, axes = _panels("Bandwidth in MB/s of bytes made, by chunk", 2, 2, 5.2)
    for axis, task in zip(axes, ("encode", "repair"), strict=True):
        for scheme, colour in SCHEMES.items():
            mine = [c for c in cells if (c["scheme"], c["task"]) == (scheme, task)]
            mine.sort(key=lambda cell: int(cell["length"]))
            for who, style in zip(CONTENDERS, ("o-", "x--"), strict=True):
                if mine:
                    axis.plot(
                        [c["length"] for c in mine],
                        [c[who]["rate"][0] for c in mine],
                        style,
                        color=colour,
                        markersize=3,
                        linewidth=1,
                        label=f"{NAMES[scheme]}({mine[0]['shape']}) {who}",
                    )
        _by_size(axis, task)
        axis.legend(fontsize=6, frameon=False)
    return figure


def _projection(content: Json, found: Sequence[Graph]) -> Figure | None:
    """Repairs of the widest shapes: measured here, and projected."""
    found = [g for g in found if g.shape.startswith("12,") and not g.encodes]
    if not found or not content["calc"]:
        return None
    product = product_seconds(content)
    figure, axes = _panels("Repair of a chunk, composed, microseconds", 3, 3, 4.2)
    for graph in found:
        lengths, colour = sorted(graph.cells), SCHEMES[graph.scheme]
        here = [graph.cells[n][COMPOSED]["p50"][0] for n in lengths]
        least, most = zip(*(projection(graph, n, product) for n in lengths), strict=True)
        label = graph.title.removesuffix(" repair")
        for axis, values, style in zip(axes, (here, least, most), ("o-", "--", "--"), strict=True):
            scale = 1 if values is here else 1e6
            points = [scale * value for value in values]
            axis.plot(lengths, points, style, color=colour, markersize=3, linewidth=1, label=label)
    _by_size(axes[0], "measured here, loopback")
    _by_size(axes[1], "PROJECTION to 100 Gb/s, without latency")
    _by_size(axes[2], "PROJECTION to 100 Gb/s, this machine's latency")
    axes[0].legend(fontsize=7, frameon=False)
    return figure


def _ycsb(content: Json, found: Sequence[Graph]) -> Figure | None:
    """Throughput by study and workload, both ways; plain memcached as the other end of the scale."""
    bars = [
        (f"{name}\n{workload}", {who: one["throughput"] for who, one in found.items() if who != "gain"})
        for name, study in content["ycsb"].items()
        for workload, found in study["workloads"].items()
    ]
    if not bars:
        return None
    figure: Figure
    figure, axis = pyplot.subplots(figsize=(3 + 0.3 * len(bars), 4.2), layout="constrained")
    colours = COLOURS | {"memcached": "#8d99ae"}
    for at, (_, contenders) in enumerate(bars):
        for n, (who, (middle, low, high)) in enumerate(contenders.items()):
            x = at + 0.4 * n - 0.2 * (len(contenders) - 1)
            axis.bar(x, middle, 0.38, color=colours[who], label=who if at in (0, len(bars) - 1) else None)
            axis.vlines(x, low, high, color="black", linewidth=0.8)
    axis.set_yscale("log")
    axis.set_xticks(range(len(bars)))
    axis.set_xticklabels([label for label, _ in bars], rotation=90, fontsize=6)
    axis.set_title("YCSB operations a second (bars: medians, lines: range)", fontsize=10)
    axis.legend(fontsize=7, frameon=False)
    axis.grid(alpha=0.3, axis="y")
    return figure


PICTURES: tuple[tuple[str, str, Callable[[Json, Sequence[Graph]], Figure | None]], ...] = (
    ("compose-latency.svg", "latency by chunk size, composed and incoherent", _latency),
    ("compose-bandwidth.svg", "bandwidth by chunk size, composed and incoherent", _bandwidth),
    ("compose-model.svg", "the fitted lines over what was measured", _model),
    ("compose-projection.svg", "repairs measured here and projected to links of 100 Gb/s", _projection),
    ("compose-ycsb.svg", "throughput of the stripe store and of plain memcached", _ycsb),
)


def draw(content: Json, found: Sequence[Graph], folder: Path) -> list[tuple[str, str]]:
    """Draw the pictures there are figures for; gives their files and what they show."""
    written = []
    with matplotlib.rc_context(STYLE):
        for file, what, make in PICTURES:
            figure = make(content, found)
            if figure is None:
                continue
            drawn = io.StringIO()
            figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
            pyplot.close(figure)
            with replacing(folder / file) as fresh:
                fresh.write_text(drawn.getvalue().replace(" \n", "\n"))
            written.append((file, what))
    return written
