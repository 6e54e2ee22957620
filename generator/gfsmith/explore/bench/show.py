"""The figures of a measurement as a table and as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gfsmith.explore.bench.measure import Figure

if TYPE_CHECKING:
    from rich.table import Table

_BAR = 24  #: characters of the longest bar


def table(title: str, figures: Sequence[Figure]) -> Table:
    """Return a table with a row and a bar for each figure."""
    from rich.table import Table

    found = Table(title=title, title_justify="left")
    for name in ("", "shards", "contender"):
        found.add_column(name)
    for name in ("GB/s", "95 % interval", "gfsmith / this"):
        found.add_column(name, justify="right")
    found.add_column("")
    fastest = max(figure.rate.median for figure in figures)
    for figure in figures:
        rate, ratio = figure.rate, figure.ratio
        ours = figure.contender == "gfsmith"
        found.add_row(
            *(figure.work.value, figure.place, figure.contender),
            f"{rate.median:.2f}",
            f"{rate.low:.2f} to {rate.high:.2f}",
            "" if ours else f"{ratio.median:.2f} ({ratio.low:.2f} to {ratio.high:.2f})",
            "█" * max(1, round(_BAR * rate.median / fastest)),
        )
    return found


def draw(path: Path, title: str, figures: Sequence[Figure]) -> None:
    """Write a picture with a bar and an interval for each figure, in the format of the path's suffix."""
    from matplotlib.figure import Figure as Canvas

    names = [f"{figure.work.value}, {figure.place}: {figure.contender}" for figure in figures]
    rates = [figure.rate.median for figure in figures]
    below = [figure.rate.median - figure.rate.low for figure in figures]
    above = [figure.rate.high - figure.rate.median for figure in figures]
    colours = ["#0072b2" if figure.contender == "gfsmith" else "#9a9a9a" for figure in figures]
    canvas = Canvas(figsize=(8, 1.2 + 0.32 * len(figures)), layout="constrained")
    axes = canvas.subplots()
    axes.barh(names, rates, xerr=[below, above], color=colours, capsize=3)
    axes.invert_yaxis()
    axes.set_xlabel("GB of source data per second; median and 95 % interval")
    axes.set_title(title, fontsize="medium", loc="left")
    canvas.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
