"""Pictures of bench/results/compose.md, drawn from compose.json in the same folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from statistics import median

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter

from bench.compose.fits import Graph, product_seconds, projection
from bench.compose.plan import COMPOSED, CONTENDERS, INCOHERENT, LENGTHS, MIB, NAMES
from bench.result_store import Json
from bench.style import (
    AMBER,
    GREY,
    NAVY,
    RED,
    STYLE,
    TEAL,
    legend,
    microseconds,
    panels,
    size,
    size_axis,
    write,
)

COLOURS = {COMPOSED: RED, INCOHERENT: NAVY}
SCHEMES = {"rs": NAVY, "lrc": TEAL, "ppr": AMBER, "ecpipe": RED, "triec": GREY}
#: A graph is drawn by name if its median is this many times above or below the line at some size.
OUTLIER = 1.5
TICKS = [LENGTHS[n] for n in (0, 3, 5, 7, 9)]
WIDE_TICKS = [length for length in LENGTHS if length != 8 * MIB]


def _times(axes: Axes, decades: Sequence[int]) -> None:
    """Make the y axis a logarithmic one of times, with ticks at powers of ten of a microsecond."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(FixedLocator([10.0**n for n in decades]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: microseconds(value)))
    axes.yaxis.minorticks_off()


def _latency(content: Json, found: Sequence[Graph]) -> Figure | None:
    """Draw p50 as a line and a band from p50 to p99."""
    found = [graph for graph in found if graph.shape.startswith("6,")]
    if not found:
        return None
    figure, axes = panels("Latency of one operation: p50 (line) to p99 (band)", len(found), height=2.3)
    for axis, graph in zip(axes, found, strict=True):
        for who in CONTENDERS:
            points = sorted(graph.cells.items())
            x, p50 = [n for n, _ in points], [cell[who]["p50"][0] for _, cell in points]
            axis.plot(x, p50, "o-", color=COLOURS[who], markersize=3.5, linewidth=1.4, label=who)
            high = [(n, cell[who]) for n, cell in points if "p99" in cell[who]]
            low, top = ([cell[p][0] for _, cell in high] for p in ("p50", "p99"))
            axis.fill_between([n for n, _ in high], low, top, color=COLOURS[who], alpha=0.15, linewidth=0)
        axis.set_title(graph.title)
        size_axis(axis, TICKS, "")
        _times(axis, range(2, 6))
        axis.set_ylim(1e2, 2e5)
        axis.set_ylabel("latency")
    for axis in axes[-2:]:
        axis.set_xlabel("bytes of a chunk")
    legend(figure, axes)
    return figure


def _deviation(graph: Graph, who: str) -> dict[int, float]:
    """Return the measured median over the fitted line, by bytes of a chunk."""
    line = graph.fits[who]
    return {n: graph.cells[n][who]["p50"][0] / (line.at(n) * 1e6) for n in sorted(graph.cells)}


def _is_outlier(ratios: Mapping[int, float]) -> bool:
    return any(max(ratio, 1 / ratio) > OUTLIER for ratio in ratios.values())


def _deviations(axes: Axes, found: Sequence[Graph], who: str) -> None:
    """Draw the range and the median over the graphs, and a line for each graph outside of OUTLIER."""
    ratios = [(graph, _deviation(graph, who)) for graph in found]
    outliers = [(graph, points) for graph, points in ratios if _is_outlier(points)]
    others = [points for _, points in ratios if not _is_outlier(points)]
    lengths = sorted({n for points in others for n in points})
    by_length = [[points[n] for points in others if n in points] for n in lengths]
    if by_length:
        low, high = [min(some) for some in by_length], [max(some) for some in by_length]
        axes.fill_between(
            lengths, low, high, color=NAVY, alpha=0.18, linewidth=0, label=f"range of {len(others)} graphs"
        )
        axes.plot(
            lengths, [median(some) for some in by_length], color=NAVY, linewidth=1.4, label="their median"
        )
    for (graph, points), style in zip(outliers, cycle(("o-", "s--", "^:", "d-.")), strict=False):
        colour = SCHEMES[graph.scheme]
        axes.plot(*zip(*points.items(), strict=True), style, color=colour, markersize=3.5, linewidth=1.2,
                  label=graph.title)  # fmt: skip


def _model(content: Json, found: Sequence[Graph]) -> Figure | None:
    """Draw the medians over the fitted line: the range of the graphs, and the outliers by name."""
    if not found:
        return None
    figure, axes = panels("Measured latency over the fitted line alpha c + beta, all graphs", 2, 1, 3.0)
    for axis, who in zip(axes, CONTENDERS, strict=True):
        _deviations(axis, found, who)
        axis.axhline(1, color="black", linewidth=1, linestyle=":")
        size_axis(axis, WIDE_TICKS, "bytes of a chunk")
        axis.set_yscale("log", base=2)
        axis.yaxis.set_major_locator(FixedLocator([0.5, 0.7, 1, 1.4, 2]))
        axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_ylim(0.6, 2.6)
        axis.set_ylabel("median / line")
        axis.set_title(f"{who} (named: more than {OUTLIER:g} times off the line at some size)")
        axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def _legend_of_schemes(figure: Figure, schemes: set[str], styles: dict[str, str]) -> None:
    entries = [Line2D([], [], color=SCHEMES[one], label=NAMES[one]) for one in SCHEMES if one in schemes]
    entries += [Line2D([], [], color="black", linestyle=style, label=name) for name, style in styles.items()]
    figure.legend(handles=entries, loc="outside lower center", ncols=len(entries))


def _bandwidth(content: Json, found: Sequence[Graph]) -> Figure | None:
    cells = [cell for key, cell in content["cells"].items() if key.startswith("bandwidth/")]
    if not cells:
        return None
    figure, axes = panels("Bandwidth: bytes produced per second", 2, 1, 3.2)
    styles = dict(zip(CONTENDERS, ("-", "--"), strict=True))
    for axis, task in zip(axes, ("encode", "repair"), strict=True):
        for scheme, colour in SCHEMES.items():
            mine = [c for c in cells if (c["scheme"], c["task"]) == (scheme, task)]
            mine.sort(key=lambda cell: int(cell["length"]))
            for who in CONTENDERS:
                x, rates = [c["length"] for c in mine], [c[who]["rate"][0] for c in mine]
                axis.plot(x, rates, styles[who], marker="o", color=colour, markersize=3.5, linewidth=1.4)
        axis.set_title(task)
        axis.set_yscale("log")
        axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_ylabel("MB produced per second")
        size_axis(axis, WIDE_TICKS, "bytes of a chunk")
    _legend_of_schemes(figure, {cell["scheme"] for cell in cells}, styles)
    return figure


def _projection(content: Json, found: Sequence[Graph]) -> Figure | None:
    """Draw repairs of the widest shapes: measured on this machine, and projected."""
    found = [g for g in found if g.shape.startswith("12,") and not g.encodes]
    if not found or not content["calc"]:
        return None
    product = product_seconds(content)
    figure, axes = panels("Repair of a chunk, composed", 3, 1, 2.3)
    for graph in found:
        lengths, colour = sorted(graph.cells), SCHEMES[graph.scheme]
        here = [graph.cells[n][COMPOSED]["p50"][0] for n in lengths]
        least, most = zip(*(projection(graph, n, product) for n in lengths), strict=True)
        label = graph.title.removesuffix(" repair")
        for axis, values, style in zip(axes, (here, least, most), ("o-", "--", "--"), strict=True):
            scale = 1 if values is here else 1e6
            points = [scale * value for value in values]
            axis.plot(lengths, points, style, color=colour, markersize=3.5, linewidth=1.4, label=label)
    titles = (
        "measured on this machine over loopback",
        "PROJECTION to 100 Gb/s without latency",
        "PROJECTION to 100 Gb/s with the latency of this machine",
    )
    for axis, title in zip(axes, titles, strict=True):
        axis.set_title(title)
        size_axis(axis, WIDE_TICKS, "")
        _times(axis, range(-1, 6))
        axis.set_ylabel("time")
    axes[-1].set_xlabel("bytes of a chunk")
    legend(figure, axes)
    return figure


def _study(study: Json) -> str:
    """Return the label of a study: "RS 6+3, 8 KiB, all reads degraded"."""
    if not study["shape"]:
        return f"plain memcached, {size(study['value'])}"
    shape = "+".join(str(part) for part in study["shape"])
    degraded = {"none": "", "all": ", all degraded"}.get(study["degraded"], f", {study['degraded']} degraded")
    return f"{NAMES[study['scheme']]} {shape}, {size(study['value'])}{degraded}"


def _ycsb(content: Json, found: Sequence[Graph]) -> Figure | None:
    """Draw throughput by study, a panel for each workload."""
    studies = list(content["ycsb"].values())
    if not studies:
        return None
    workloads = sorted({workload for study in studies for workload in study["workloads"]})
    figure, axes = panels(
        "YCSB throughput by scheme, size of values and degraded reads", len(workloads), len(workloads),
        0.3 * len(studies) + 0.6,
    )  # fmt: skip
    colours = COLOURS | {"memcached": GREY}
    for column, (axis, workload) in enumerate(zip(axes, workloads, strict=True)):
        for row, study in enumerate(studies):
            measured = study["workloads"].get(workload, {})
            shift = {COMPOSED: -0.14, INCOHERENT: 0.14}
            for who in (who for who in colours if who in measured):
                middle, low, high = (value / 1000 for value in measured[who]["throughput"])
                y = row + shift.get(who, 0)
                axis.plot([low, high], [y, y], "-", color=colours[who], linewidth=1.4)
                axis.plot([middle], [y], "o", color=colours[who], markersize=5, label=who)
        axis.set_xscale("log")
        axis.set_xlim(0.25, 30)
        axis.xaxis.set_major_locator(FixedLocator([0.3, 1, 3, 10, 30]))
        axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.xaxis.minorticks_off()
        axis.set_xlabel("thousand operations/s")
        axis.set_yticks(range(len(studies)), [_study(study) for study in studies] if column == 0 else [])
        axis.set_ylim(len(studies) - 0.5, -0.5)
        axis.set_title(f"workload {workload}")
    legend(figure, axes)
    return figure


#: File, text alternative, function.
PICTURES: tuple[tuple[str, str, Callable[[Json, Sequence[Graph]], Figure | None]], ...] = (
    (
        "compose-latency.svg",
        "Latency by bytes of a chunk, composed and incoherent, a panel for each graph of shapes "
        "6+3 and 6+2+2: median, and a band up to the 99th percentile",
        _latency,
    ),
    (
        "compose-bandwidth.svg",
        "Bandwidth by bytes of a chunk for encoding and for repair, composed and incoherent, a "
        "curve for each scheme",
        _bandwidth,
    ),
    (
        "compose-model.svg",
        "Measured latency over the fitted line by bytes of a chunk, composed and incoherent: range and "
        "median over the graphs, and a curve for each graph more than 1.5 times off the line",
        _model,
    ),
    (
        "compose-projection.svg",
        "Time of a repair by bytes of a chunk, a curve for each scheme: measured over loopback, "
        "and projected to links of 100 Gb/s without latency and with the latency of this machine",
        _projection,
    ),
    (
        "compose-ycsb.svg",
        "YCSB throughput of the stripe store, composed and incoherent, and of plain memcached, a "
        "row for each study and a panel for each workload",
        _ycsb,
    ),
)


def draw(content: Json, found: Sequence[Graph], folder: Path) -> list[tuple[str, str]]:
    """Draw the pictures for which there are figures; return their files and text alternatives."""
    written = []
    with matplotlib.rc_context(STYLE):
        for file, what, make in PICTURES:
            figure = make(content, found)
            if figure is None:
                continue
            write(figure, folder / file, what)
            written.append((file, what))
    return written
