"""Heat maps: the influence of settings and of the shape on a kernel's speed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import Normalize, TwoSlopeNorm
from matplotlib.patches import Rectangle

from gfsmith.explore.tune.canvas import REGIME, Picture, best_known, file_name, grouped, panels_of, size
from gfsmith.explore.tune.result import Cell, Measurement, Regime, Study


def _heat(
    axes: Axes,
    values: Mapping[tuple[int, int], tuple[float, str]],
    grid_of: Iterable[tuple[int, int]],
    labels: tuple[str, str],
    norm: Normalize,
    colours: str,
) -> Any:
    """Draw (row, column) -> value and the text of its field. Missing fields stay empty and hatched.

    grid_of: the points that determine rows and columns, the same for all panels of a figure.
    """
    down = sorted({row for row, _ in grid_of})
    across = sorted({column for _, column in grid_of})
    grid = [[values.get((r, c), (float("nan"), ""))[0] for c in across] for r in down]
    axes.set_facecolor("white")
    axes.add_patch(_hatched(len(across), len(down)))
    image = axes.imshow(grid, norm=norm, cmap=colours, aspect="auto", origin="lower", zorder=2)
    for (r, c), (value, text) in values.items():
        red, green, blue, _ = image.cmap(norm(value))
        ink = "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "white"
        axes.text(
            across.index(c), down.index(r), text, ha="center", va="center", color=ink, fontsize=8, zorder=3
        )
    axes.set_xticks([n + 0.5 for n in range(len(across) - 1)], minor=True)
    axes.set_yticks([n + 0.5 for n in range(len(down) - 1)], minor=True)
    axes.grid(which="minor", color="white", linewidth=1.5)
    axes.set_axisbelow(False)
    axes.tick_params(which="minor", length=0)
    axes.set_xticks(range(len(across)), [str(c) for c in across])
    axes.set_yticks(range(len(down)), [str(r) for r in down])
    axes.set_ylabel(labels[0])
    axes.set_xlabel(labels[1])
    return image


def _hatched(width: int, height: int) -> Rectangle:
    return Rectangle(
        (-0.5, -0.5), width, height, facecolor="#f2f2f2", edgecolor="#cccccc", hatch="////", zorder=1
    )


def _setting(m: Measurement) -> tuple[int, int]:
    return int(m.parameters["unroll"]), int(m.parameters["prefetch"])


def schedule(study: Study, target: str, path: str) -> Picture | None:
    """Draw speed over unroll and prefetch distance, the best over all other settings, one panel per
    length."""
    mine = [m for m in study.measurements if m.cell.target == target and m.cell.path == path]
    by_length = grouped(best_known(mine).values(), lambda m: m.cell.length)
    points = {_setting(m) for found in by_length.values() for m in found}
    if len(points) < 2:
        return None
    figure, panels = panels_of(len(by_length))
    speeds = [m.speed.median for ms in by_length.values() for m in ms]
    reach = max(max(abs(s - 1) for s in speeds), 0.05)
    norm = TwoSlopeNorm(1.0, max(0.0, 1 - reach), 1 + reach)
    for axes, (length, found) in zip(panels, sorted(by_length.items()), strict=True):
        best: dict[tuple[int, int], tuple[float, str]] = {}
        for m in found:
            at = _setting(m)
            if at not in best or m.speed.median > best[at][0]:
                best[at] = m.speed.median, f"{m.speed.median:.2f}"
        image = _heat(
            axes, best, points, ("unroll (vectors per iteration)", "prefetch distance (bytes)"), norm, "PuOr"
        )
        axes.set_title(f"{size(length)} blocks", fontsize=10)
    bar = figure.colorbar(image, ax=panels, shrink=0.9)
    bar.set_label("speed / speed of the reference")
    figure.suptitle(f"{target}, path {path}")
    text = (
        "The fastest variant found for each unroll and prefetch distance, over all other settings. Above 1: "
        "faster than the untuned kernel. Hatched: not tried, or not possible."
    )
    return Picture(
        file_name("schedule", target, path), f"Unroll and prefetch of {target}, path {path}", text, figure
    )


def _shape(cell: Cell) -> tuple[int, int]:
    """Return outputs and sources."""
    inputs, outputs = cell.shape.split("x")
    return int(outputs), int(inputs)


def shapes(study: Study, what: str, isa: str, regime: Regime) -> Picture | None:
    """Draw throughput and gain of the winner over sources and outputs, one panel per length."""
    fit = [
        w
        for w in study.winners
        if (w.cell.target.split(":")[0], w.cell.isa, w.cell.regime) == (what, isa, regime)
        and w.cell.shape[0] != "n"
    ]
    if len({w.cell.shape for w in fit}) < 2:
        return None
    by_length = grouped(fit, lambda w: w.cell.length)
    figure, panels = panels_of(len(by_length))
    points = {_shape(w.cell) for w in fit}
    norm = Normalize(0, max(w.rate.median for w in fit))
    for axes, (length, found) in zip(panels, sorted(by_length.items()), strict=True):
        values = {
            _shape(w.cell): (w.rate.median, f"{w.rate.median:.1f}\n×{w.speed.median:.2f}") for w in found
        }
        image = _heat(axes, values, points, ("outputs", "k (sources)"), norm, "cividis")
        axes.set_title(f"{size(length)} blocks", fontsize=10)
    bar = figure.colorbar(image, ax=panels, shrink=0.9)
    bar.set_label("GB/s of source data, one thread")
    title = f"{what}@{isa}, {REGIME[regime]}"
    figure.suptitle(title)
    text = "The winner at each shape: GB/s of source data, and below it the speed relative to the reference."
    return Picture(file_name("shapes", what, isa, regime.value), f"Shapes of {title}", text, figure)
