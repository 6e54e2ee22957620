"""Pictures of bench/results/adaptive.md, drawn from adaptive.json in the same folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.adaptive.judge import MARGIN
from bench.adaptive.plan import ADAPTIVE, DEFAULT, ISAL, ISAL_D
from bench.result_store import Json
from bench.style import AMBER, GREY, NAVY, RED, STYLE, TEAL, legend, panels, size_axis, write

BEST = "best"  #: represents the static best of a cell
LINES = {
    ADAPTIVE: ("adaptive", RED, "o-"),
    BEST: ("static best", TEAL, "s--"),
    DEFAULT: ("static default", AMBER, "^-"),
    ISAL: ("ISA-L 2.32", NAVY, "v-"),
    ISAL_D: ("ISA-L-D", GREY, "d-"),
}
PHASES = {
    "default": ("static default", AMBER),
    "other_best": ("static best of the other state", GREY),
    "static_best": ("static best of the current state", TEAL),
    "adaptive": ("adaptive", RED),
}
SPEED = "GB/s of source data"


def _speed(cell: Json, who: str) -> float | None:
    speeds = cell["gigabytes_per_second"]
    if who == BEST:
        return max(float(speeds[one]) for one in cell["static_best"])
    return float(speeds[who]) if who in speeds else None


def _lines(axes: Axes, cells: Sequence[Json], key: str, title: str) -> None:
    for who, (label, colour, style) in LINES.items():
        points = [(cell[key], speed) for cell in cells if (speed := _speed(cell, who)) is not None]
        if points:
            axes.plot(*zip(*points, strict=True), style, color=colour, label=label, markersize=4)
    axes.set_title(title)
    axes.set_ylim(bottom=0)
    axes.set_ylabel(SPEED)


def _picked(content: Json, **wanted: object) -> list[Json]:
    found = [c for c in content["cells"].values() if all(c[key] == v for key, v in wanted.items())]
    return sorted(found, key=lambda cell: (cell["k"], cell["length"]))


def _by_k(content: Json) -> Figure | None:
    sides = [_picked(content, m=4, length=1024, order="sequential", threads=t) for t in (1, 2)]
    if any(len(side) < 2 for side in sides):
        return None
    figure, axes = panels("Encoding from DRAM, m = 4, shards of 1 KiB", 2, height=3)
    for threads, (axis, cells) in enumerate(zip(axes, sides, strict=True), 1):
        _lines(axis, cells, "k", "1 thread" if threads == 1 else f"{threads} threads")
        axis.set_xlabel("data shards, k")
    legend(figure, axes)
    return figure


def _by_length(content: Json) -> Figure | None:
    shapes = (10, 28, 48, 100)
    sides = [_picked(content, m=4, k=k, order="sequential", threads=1) for k in shapes]
    sides = [side for side in sides if len(side) > 1]
    if not sides:
        return None
    figure, axes = panels("Encoding from DRAM, m = 4, one thread", len(sides))
    for axis, cells in zip(axes, sides, strict=True):
        _lines(axis, cells, "length", f"k = {cells[0]['k']}")
        size_axis(axis, (256, 1024, 4096, 16384), "bytes of a shard")
    legend(figure, axes)
    return figure


def _cells(content: Json) -> Figure | None:
    """Draw a point for every cell, sorted. The page lists the points above the margin on the left by name."""
    cells = list(content["cells"].values())
    if not cells:
        return None
    figure, axes = panels("The adaptive codec in every cell: medians and 95 % intervals", 2, height=3.4)
    sets = (
        (
            "over_static_best",
            "time / time of the best static policy",
            1 + MARGIN,
            f"{1 + MARGIN:g}: the margin",
        ),
        ("gain_default", "speed / speed of the static default", 1.0, "1: as fast"),
    )
    for axis, (key, label, line, meaning) in zip(axes, sets, strict=True):
        for threads, colour in ((1, RED), (2, NAVY)):
            values = sorted(cell[key] for cell in cells if cell["threads"] == threads)
            x = [100 * n / max(len(values) - 1, 1) for n in range(len(values))]
            words = f"{threads} thread{'s' * (threads > 1)}"
            axis.plot(x, [v[0] for v in values], ".", color=colour, markersize=4, label=words)
            axis.vlines(x, [v[1] for v in values], [v[2] for v in values], color=colour, alpha=0.15)
        axis.axhline(line, color="black", linewidth=1, linestyle=":")
        axis.annotate(meaning, (1, line), textcoords="offset points", xytext=(0, 5), fontsize=9)
        axis.set_ylabel(label)
        axis.set_xlabel("cells in the order of this ratio, %")
    axes[0].set_title("lower is better")
    axes[1].set_title("higher is better")
    axes[0].set_ylim(0.85, 1.4)
    legend(figure, axes)
    return figure


def _recovery(content: Json) -> Figure | None:
    changes = content["changes"]
    if not changes:
        return None
    effort = content["method"]["effort"]
    figure, axes = panels("One condition changes (shaded) and changes back", len(changes))
    for axis, (what, change) in zip(axes, changes.items(), strict=True):
        start = 0
        for number, phase in enumerate(change["phases"]):
            lines = phase["gigabytes_per_second"]
            rounds = effort["phase"] / len(lines["adaptive"])  # of which each point is a median
            for who, (label, colour) in PHASES.items():
                x = [start + n * rounds for n in range(len(lines[who]))]
                axis.plot(
                    x, lines[who], "-", color=colour, linewidth=1.2, label=label if number == 0 else None
                )
            if number == 1:
                axis.axvspan(start, start + effort["phase"], color="#e8eef5", zorder=0)
            start += effort["phase"]
        axis.set_title(what)
        axis.set_ylim(bottom=0)
        axis.set_ylabel(SPEED)
        axis.set_xlabel(f"rounds of {effort['slice'] / 1000:g} ms for each policy")
    legend(figure, axes, 4)
    return figure


#: File, text alternative, function.
PICTURES: tuple[tuple[str, str, Callable[[Json], Figure | None]], ...] = (
    (
        "adaptive-k.svg",
        "Throughput by number of data shards, with one and with two threads, of the adaptive "
        "codec, the best static policy, the static default, ISA-L and ISA-L-D",
        _by_k,
    ),
    (
        "adaptive-length.svg",
        "Throughput by bytes of a shard, for 10, 28, 48 and 100 data shards, of the adaptive "
        "codec, the best static policy, the static default, ISA-L and ISA-L-D",
        _by_length,
    ),
    (
        "adaptive-cells.svg",
        "Two sorted curves over all cells: the adaptive codec's time over that of the best static "
        "policy, and its speed over that of the static default",
        _cells,
    ),
    (
        "adaptive-recovery.svg",
        "Throughput over time while shape, block size, number of threads and background load "
        "change and change back: the adaptive codec and static policies",
        _recovery,
    ),
)


def draw(content: Json, folder: Path) -> list[tuple[str, str]]:
    """Draw the pictures for which there are figures; return their files and text alternatives."""
    written = []
    with matplotlib.rc_context(STYLE):
        for file, what, make in PICTURES:
            figure = make(content)
            if figure is None:
                continue
            write(figure, folder / file, what)
            written.append((file, what))
    return written
