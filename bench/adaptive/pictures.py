"""The pictures of the DRAM part of docs/memory.md, from results.json."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.adaptive.judge import MARGIN
from bench.adaptive.plan import ADAPTIVE, DEFAULT, ISAL, ISAL_D
from bench.build import ROOT
from bench.kept import Json

matplotlib.use("Agg")

FOLDER = ROOT / "docs" / "pictures"
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "gfsmith", "font.size": 9, "font.family": "DejaVu Sans"}

BEST = "best"  #: stands for the static best of a cell
LINES = {
    ADAPTIVE: ("adaptive", "#c1121f", "o-"),
    BEST: ("static best", "#2a9d8f", "s--"),
    DEFAULT: ("static default", "#e9a03b", "^-"),
    ISAL: ("ISA-L 2.32", "#1d3557", "v-"),
    ISAL_D: ("ISA-L-D", "#8d99ae", "d-"),
}
PHASES = {
    "adaptive": ("adaptive", "#c1121f"),
    "static_best": ("static best of the state", "#2a9d8f"),
    "other_best": ("static best of the other state", "#8d99ae"),
    "default": ("static default", "#e9a03b"),
}


def _speed(cell: Json, who: str) -> float | None:
    speeds = cell["gigabytes_per_second"]
    if who == BEST:
        return max(float(speeds[one]) for one in cell["static_best"])
    return float(speeds[who]) if who in speeds else None


def _lines(axes: Axes, cells: Sequence[Json], key: str, title: str) -> None:
    for who, (label, colour, style) in LINES.items():
        points = [(cell[key], speed) for cell in cells if (speed := _speed(cell, who)) is not None]
        if points:
            axes.plot(*zip(*points, strict=True), style, color=colour, label=label, markersize=3)
    axes.set_title(title, fontsize=9)
    axes.set_ylim(0, 1.35 * axes.get_ylim()[1])  # room for the legend
    axes.grid(alpha=0.3)


def _panels(title: str, columns: int, rows: int = 1) -> tuple[Figure, list[Axes]]:
    figure, axes = pyplot.subplots(rows, columns, figsize=(4.6 * columns, 3.2 * rows), squeeze=False)
    figure.suptitle(title, fontsize=10)
    return figure, list(axes.flat)


def _picked(content: Json, **wanted: object) -> list[Json]:
    found = [c for c in content["cells"].values() if all(c[key] == v for key, v in wanted.items())]
    return sorted(found, key=lambda cell: (cell["k"], cell["length"]))


def _by_k(content: Json) -> Figure | None:
    sides = [_picked(content, m=4, length=1024, order="sequential", threads=t) for t in (1, 2)]
    if any(len(side) < 2 for side in sides):
        return None
    figure, axes = _panels("Encoding from DRAM by number of sources k: m = 4, 1 KiB; GB/s of sources", 2)
    for threads, (axis, cells) in enumerate(zip(axes, sides, strict=True), 1):
        _lines(axis, cells, "k", "1 thread" if threads == 1 else f"{threads} threads")
        axis.set_xlabel("k")
    axes[0].legend(fontsize=7, frameon=False)
    return figure


def _by_length(content: Json) -> Figure | None:
    shapes = (10, 28, 48, 100)
    sides = [_picked(content, m=4, k=k, order="sequential", threads=1) for k in shapes]
    sides = [side for side in sides if len(side) > 1]
    if not sides:
        return None
    figure, axes = _panels("Encoding from DRAM by block size: m = 4, 1 thread; GB/s of sources", len(sides))
    for axis, cells in zip(axes, sides, strict=True):
        _lines(axis, cells, "length", f"k = {cells[0]['k']}")
        axis.set_xscale("log", base=2)
        axis.set_xlabel("bytes in a block")
    axes[0].legend(fontsize=7, frameon=False)
    return figure


def _cells(content: Json) -> Figure | None:
    """Every cell as a point, sorted; what is above the margin's line on the left is listed by name."""
    cells = list(content["cells"].values())
    if not cells:
        return None
    figure, axes = _panels("All cells, sorted", 2)
    sets = (
        ("over_static_best", "time / static best's", 1 + MARGIN),
        ("gain_default", "speed / default's", 1.0),
    )
    for axis, (key, label, line) in zip(axes, sets, strict=True):
        for threads, colour in ((1, "#c1121f"), (2, "#1d3557")):
            values = sorted(cell[key] for cell in cells if cell["threads"] == threads)
            x = [n / max(len(values) - 1, 1) for n in range(len(values))]
            axis.plot(
                x,
                [v[0] for v in values],
                ".",
                color=colour,
                markersize=4,
                label=f"{threads} thread{'s' * (threads > 1)}",
            )
            axis.vlines(x, [v[1] for v in values], [v[2] for v in values], color=colour, alpha=0.15)
        axis.axhline(line, color="black", linewidth=0.8, linestyle=":")
        axis.set_title(label, fontsize=9)
        axis.set_xlabel("share of cells")
        axis.grid(alpha=0.3)
    axes[0].set_ylim(0.8, 1.5)
    axes[0].legend(fontsize=7, frameon=False)
    return figure


def _recovery(content: Json) -> Figure | None:
    changes = content["changes"]
    if not changes:
        return None
    figure, axes = _panels(
        "After a change and back: GB/s of sources over thousands of the adaptive codec's calls",
        2,
        (len(changes) + 1) // 2,
    )
    for axis, (what, change) in zip(axes, changes.items(), strict=False):
        start = 0
        for number, phase in enumerate(change["phases"]):
            lines = phase["gigabytes_per_second"]
            step = 4 * phase["calls_in_a_round"]
            for who, (label, colour) in PHASES.items():
                x = [(start + step * n) / 1000 for n in range(len(lines[who]))]
                axis.plot(x, lines[who], "-", color=colour, linewidth=1, label=label if number == 0 else None)
            start += step * len(lines["adaptive"])
            if number < 2:
                axis.axvline(start / 1000, color="black", linewidth=0.8, linestyle=":")
        axis.set_title(what, fontsize=9)
        axis.set_ylim(bottom=0)
        axis.grid(alpha=0.3)
    axes[0].legend(fontsize=7, frameon=False)
    return figure


PICTURES: tuple[tuple[str, str, Callable[[Json], Figure | None]], ...] = (
    ("adaptive-k.svg", "throughput by number of sources, one and two threads", _by_k),
    ("adaptive-length.svg", "throughput by block size", _by_length),
    ("adaptive-cells.svg", "every cell beside the static best and the default", _cells),
    ("adaptive-recovery.svg", "throughput while shape, block size, threads and load change", _recovery),
)


def draw(content: Json, folder: Path) -> list[tuple[str, str]]:
    """Draw the pictures there are figures for; gives their files and what they show."""
    written = []
    with matplotlib.rc_context(STYLE):
        for file, what, make in PICTURES:
            figure = make(content)
            if figure is None:
                continue
            figure.tight_layout()
            drawn = io.StringIO()
            figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
            pyplot.close(figure)
            (folder / file).write_text(drawn.getvalue().replace(" \n", "\n"))
            written.append((file, what))
    return written
