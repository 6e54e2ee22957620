"""Style of the SVG pictures of bench/results: 8 inches wide, a white background, axes with units."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

import matplotlib
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gfsmith.emit.files import replacing

matplotlib.use("Agg")

#: Text stays text, and the same data give the same bytes. 10 points are 14 pixels on a page 800 pixels wide.
STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "gfsmith",
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.titlesize": 10,
    "axes.labelsize": 10,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.alpha": 0.3,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
RED, NAVY, TEAL, AMBER, GREY = "#c1121f", "#1d3557", "#2a9d8f", "#d98c1f", "#6d7f92"
WIDTH = 8.0


def panels(title: str, count: int, columns: int = 2, height: float = 2.7) -> tuple[Figure, list[Axes]]:
    """Return a figure of equal panels and their axes; `height` is that of a row, in inches."""
    rows = -(-count // columns)
    figure, axes = pyplot.subplots(
        rows, columns, figsize=(WIDTH, height * rows + 0.8), squeeze=False, layout="constrained"
    )
    figure.suptitle(title, fontsize=11)
    flat = list(axes.flat)
    for unused in flat[count:]:
        unused.set_visible(False)
    return figure, flat[:count]


def legend(figure: Figure, axes: Sequence[Axes], columns: int = 5) -> None:
    """Put one legend for all panels below them, each label once."""
    found = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    figure.legend(found.values(), found.keys(), loc="outside lower center", ncols=columns)


def size(length: float) -> str:
    """Return a number of bytes with its unit: "512 B", "4 KiB", "16 MiB"."""
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if length >= unit and length % unit == 0:
            return f"{length // unit:.0f} {name}"
    return f"{length:.0f} B"


def size_axis(axes: Axes, lengths: Sequence[int], label: str) -> None:
    """Make the x axis one of sizes in bytes, with ticks at `lengths`."""
    axes.set_xscale("log", base=2)
    axes.set_xticks(lengths)
    axes.set_xticklabels([size(length) for length in lengths])
    axes.xaxis.minorticks_off()
    axes.set_xlabel(label)


def microseconds(value: float) -> str:
    """Return a time with its unit: "200 µs", "5 ms", "1 s"."""
    for unit, name in ((1e6, "s"), (1e3, "ms")):
        if value >= unit:
            return f"{value / unit:g} {name}"
    return f"{value:g} µs"


def described(drawn: str, description: str) -> str:
    """Return an SVG text with a title and a description for screen readers. The title is the description up
    to its first colon or full stop."""
    title = re.split(r"[:.]", description, maxsplit=1)[0]
    head, mark, rest = drawn.partition(" <metadata>")
    named = f" <title>{escape(title)}</title>\n <desc>{escape(description)}</desc>\n"
    return f"{head}{named}{mark}{rest}"


def svg(figure: Figure, description: str) -> str:
    """Return a figure as SVG with title and description, and close it."""
    drawn = io.StringIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None}, facecolor="white")
    pyplot.close(figure)
    text = "\n".join(line.rstrip() for line in drawn.getvalue().splitlines()) + "\n"
    return described(text, description)


def write(figure: Figure, path: Path, description: str) -> None:
    """Replace an SVG file by a figure."""
    with replacing(path) as fresh:
        fresh.write_text(svg(figure, description), encoding="utf-8")
