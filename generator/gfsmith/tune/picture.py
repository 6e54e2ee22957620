"""A study as pictures: what was gained where, which settings matter, and whether the model foresaw it.

Every picture is a matplotlib Figure of its own, so nothing here has global state. Colours are those of Okabe
and Ito and the maps `cividis` and `PuOr`, which people with any kind of colour vision can tell apart; what a
colour says, a marker, a line style or a number says too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from matplotlib.axes import Axes
from matplotlib.colors import Normalize, TwoSlopeNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter

from gfsmith.stats import rank_correlation
from gfsmith.tune.result import Cell, Measurement, Phase, Regime, Study
from gfsmith.tune.target import ANY

_BLACK, _ORANGE, _BLUE, _GREEN, _RED = "#000000", "#e69f00", "#0072b2", "#009e73", "#d55e00"
_GREY = "#9a9a9a"
_DPI = 110
_WIDE = (11.5, 5.0)  #: inches
_COLUMNS = 3  #: panels side by side
_WINNERS = ((_BLUE, "o"), (_RED, "s"), (_GREEN, "^"), (_ORANGE, "D"), ("#cc79a7", "v"), ("#56b4e9", "P"))
_REGIME = {Regime.CACHED: "in cache", Regime.MEMORY: "from memory"}

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Picture:
    """One PNG. text: what it shows and how to read it, for the page."""

    file: str
    title: str
    text: str
    figure: Figure


def _size(length: float, _: object = None) -> str:
    """Bytes in the unit that reads best: 512 B, 4 KiB."""
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if length >= factor:
            return f"{length / factor:g} {unit}"
    return f"{length:g} B"


def _grouped(things: Iterable[Any], key: Callable[[Any], Key]) -> dict[Key, list[Any]]:
    found: dict[Key, list[Any]] = {}
    for thing in things:
        found.setdefault(key(thing), []).append(thing)
    return found


def _slug(*words: str) -> str:
    return "-".join("".join(c if c.isalnum() else "_" for c in word) for word in words) + ".png"


def _best(measurements: Iterable[Measurement]) -> dict[tuple[Cell, str], Measurement]:
    """One measurement of each variant in each cell: that of the final where there is one."""
    found: dict[tuple[Cell, str], Measurement] = {}
    for m in sorted(measurements, key=lambda m: m.phase is Phase.FINAL):
        found[m.cell, m.symbol] = m
    return found


# Throughput against block length


def _variant(axes: Axes, points: Sequence[Measurement], colour: str, marker: str, label: str) -> None:
    """A line with its intervals."""
    ordered = sorted(points, key=lambda m: m.cell.length)
    rates = [m.rate for m in ordered]
    errors = [[r.median - r.low for r in rates], [r.high - r.median for r in rates]]
    axes.errorbar(
        [m.cell.length for m in ordered], [r.median for r in rates], errors,
        fmt=f"{marker}-", color=colour, label=label, linewidth=1.8, markersize=5, capsize=2,
    )  # fmt: skip


def _others(axes: Axes, variants: Sequence[Sequence[Measurement]]) -> None:
    """All that neither won nor are the reference, as points."""
    if variants:
        points = [m for variant in variants for m in variant]
        lengths, rates = [m.cell.length for m in points], [m.rate.median for m in points]
        label = f"{len(variants)} other variants"
        axes.plot(lengths, rates, ".", color=_GREY, markersize=4, label=label, zorder=1)


_ROOFS = (
    ("memory", "--", "memory: same bytes, only added"),
    ("ports", ":", "ports: reference's loop, modelled"),
)


def _roof(axes: Axes, study: Study, cells: Sequence[Cell], top: float) -> None:
    """What the machine allows. A roof far above everything is only named, lest it press the rest down."""
    for name, style, label in _ROOFS:
        found = [(b.cell.length, getattr(b, name)) for b in study.bounds if b.cell in cells]
        points = sorted((length, rate) for length, rate in found if rate is not None)
        least = min((rate for _, rate in points), default=0.0)
        if least > 2 * top:
            points, label = [], f"{label}, {least:.0f} GB/s: off the scale"
        elif not points:
            continue
        axes.plot(
            [n for n, _ in points], [r for _, r in points], style, color=_BLACK, linewidth=1.4, label=label
        )


def _throughput(study: Study, target: str, regime: Regime) -> Picture | None:
    """Every variant at every block length: the reference, the winners, and the others in grey."""
    mine = [m for m in study.measurements if m.cell.target == target and m.cell.regime is regime]
    variants = _grouped(_best(mine).values(), lambda m: m.symbol)
    cells = list(dict.fromkeys(m.cell for m in mine))
    if not cells:
        return None
    winners = dict.fromkeys(w.symbol for w in study.winners if w.cell in cells)
    figure = Figure(figsize=_WIDE, dpi=_DPI, layout="constrained")
    axes = figure.add_subplot()
    reference = [symbol for symbol, points in variants.items() if points[0].reference]
    won = [symbol for symbol in winners if symbol in variants and symbol not in reference][: len(_WINNERS)]
    for symbol in reference:
        _variant(axes, variants[symbol], _BLACK, "x", f"reference: {settings(variants[symbol][0])}")
    for (colour, marker), symbol in zip(_WINNERS, won, strict=False):
        _variant(axes, variants[symbol], colour, marker, f"won: {settings(variants[symbol][0])}")
    _others(axes, [points for symbol, points in variants.items() if symbol not in (*reference, *won)])
    _roof(axes, study, cells, max(m.rate.high for points in variants.values() for m in points))
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(FuncFormatter(_size))
    axes.set_xticks(sorted({c.length for c in cells}))
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    axes.set_xlabel("block length (bytes of one shard)")
    axes.set_ylabel("GB/s of source data, one thread")
    axes.set_title(f"{target}, {_REGIME[regime]}")
    axes.grid(alpha=0.3)
    figure.legend(fontsize=9, loc="outside right upper", frameon=False)
    title = f"Throughput of {target}, {_REGIME[regime]}"
    text = (
        "One point a variant and block length; bars are confidence intervals. Grey: the search, not measured "
        "again. The memory line is what a kernel of the same shape does that only adds; the port line is the "
        "model's for the reference's own loop, and a variant with fewer products may pass it."
    )
    return Picture(_slug("throughput", target, regime.value), title, text, figure)


def settings(m: Measurement) -> str:
    """A variant in a few words: what is not the same in every kernel."""
    p = m.parameters
    words = [f"u{p['unroll']}"]
    words += [str(p[name]) for name in ("circuit", "order", "placement") if p.get(name) not in _PLAIN]
    if p.get("prefetch"):
        words.append(f"prefetch {p['prefetch']} {p.get('hint', '')}".rstrip())
    if p.get("store") == "streaming":
        words.append("streaming")
    return ", ".join([*words, f"{p['outputs']} a pass"] if "+" in m.symbol else words)


_PLAIN = (None, "auto", "sums", "registers")  #: the default of each of them


# Heat maps


def _heat(
    axes: Axes,
    values: Mapping[tuple[int, int], tuple[float, str]],
    labels: tuple[str, str],
    norm: Normalize,
    colours: str,
) -> Any:
    """(row, column) -> value and the text in its field; what is missing stays empty and hatched."""
    down = sorted({row for row, _ in values})
    across = sorted({column for _, column in values})
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


def _panels(count: int) -> tuple[Figure, list[Axes]]:
    """A figure with so many panels of equal size."""
    columns = 2 if count == 4 else min(count, _COLUMNS)
    rows = -(-count // columns)
    figure = Figure(figsize=(1.2 + 4.2 * columns, 0.8 + 3.4 * rows), dpi=_DPI, layout="constrained")
    panels = [figure.add_subplot(rows, columns, n + 1) for n in range(count)]
    return figure, panels


def _schedule(study: Study, target: str, path: str) -> Picture | None:
    """Speed over unroll and prefetch distance, the best over all other settings; a panel a length."""
    mine = [m for m in study.measurements if m.cell.target == target and m.cell.path == path]
    by_length = _grouped(_best(mine).values(), lambda m: m.cell.length)
    points = {(m.parameters["unroll"], m.parameters["prefetch"]) for ms in by_length.values() for m in ms}
    if len(points) < 2:
        return None
    figure, panels = _panels(len(by_length))
    speeds = [m.speed.median for ms in by_length.values() for m in ms]
    reach = max(max(abs(s - 1) for s in speeds), 0.05)
    norm = TwoSlopeNorm(1.0, max(0.0, 1 - reach), 1 + reach)
    for axes, (length, found) in zip(panels, sorted(by_length.items()), strict=True):
        best: dict[tuple[int, int], tuple[float, str]] = {}
        for m in found:
            at = int(m.parameters["unroll"]), int(m.parameters["prefetch"])
            if at not in best or m.speed.median > best[at][0]:
                best[at] = m.speed.median, f"{m.speed.median:.2f}"
        image = _heat(axes, best, ("unroll (vectors a turn)", "prefetch distance (bytes)"), norm, "PuOr")
        axes.set_title(f"{_size(length)} blocks", fontsize=10)
    bar = figure.colorbar(image, ax=panels, shrink=0.9)
    bar.set_label("speed / speed of the reference")
    figure.suptitle(f"{target}, path {path}")
    text = (
        "The best variant found with each unroll and prefetch distance, whatever its other settings. Above "
        "1: faster than what gfsmith makes without tuning. Hatched: not tried, or not possible."
    )
    return Picture(
        _slug("schedule", target, path), f"Unroll and prefetch of {target}, path {path}", text, figure
    )


def _shape(cell: Cell) -> tuple[str, str]:
    inputs, outputs = cell.shape.split("x")
    return inputs, outputs


def _shapes(study: Study, what: str, isa: str, regime: Regime) -> Picture | None:
    """Throughput and gain of the winner over sources and outputs; a panel a length."""
    fit = [
        w
        for w in study.winners
        if (w.cell.target.split(":")[0], w.cell.isa, w.cell.regime) == (what, isa, regime)
        and w.cell.shape[0] != "n"
    ]
    if len({w.cell.shape for w in fit}) < 2:
        return None
    by_length = _grouped(fit, lambda w: w.cell.length)
    figure, panels = _panels(len(by_length))
    norm = Normalize(0, max(w.rate.median for w in fit))
    for axes, (length, found) in zip(panels, sorted(by_length.items()), strict=True):
        values = {}
        for w in found:
            k, outputs = _shape(w.cell)
            values[int(outputs), int(k)] = w.rate.median, f"{w.rate.median:.1f}\n×{w.speed.median:.2f}"
        image = _heat(axes, values, ("outputs", "k (sources)"), norm, "cividis")
        axes.set_title(f"{_size(length)} blocks", fontsize=10)
    bar = figure.colorbar(image, ax=panels, shrink=0.9)
    bar.set_label("GB/s of source data, one thread")
    title = f"{what}@{isa}, {_REGIME[regime]}"
    figure.suptitle(title)
    text = (
        "The winner at each shape: GB/s of source data, and below it how many times as fast as the reference."
    )
    return Picture(_slug("shapes", what, isa, regime.value), f"Shapes of {title}", text, figure)


# The model


def _foreseen(study: Study, target: str, cpu: str) -> Picture | None:
    """Cycles that the model predicts against time measured in cache, a panel a length."""
    cycles = {p.symbols: p.cycles for p in study.predictions if p.target == target and p.cpu == cpu}
    mine = [m for m in study.measurements if m.cell.target == target and m.cell.regime is Regime.CACHED]
    matched = [m for m in _best(mine).values() if m.symbols in cycles]
    by_length = {n: ms for n, ms in _grouped(matched, lambda m: m.cell.length).items() if len(ms) >= 2}
    if not by_length:
        return None
    figure, panels = _panels(len(by_length))
    for axes, (length, found) in zip(panels, sorted(by_length.items()), strict=True):
        ns = {m.symbol: _nanoseconds(m) for m in found}
        for reference, colour, marker, label in (
            (False, _BLUE, "o", "variants"), (True, _RED, "X", "reference"),
        ):  # fmt: skip
            points = [(cycles[m.symbols], ns[m.symbol]) for m in found if m.reference is reference]
            if points:
                x, y = zip(*points, strict=True)
                axes.plot(x, y, marker, color=colour, markersize=8 if reference else 5, label=label,
                          linestyle="none", alpha=0.9)  # fmt: skip
        rho = rank_correlation([cycles[m.symbols] for m in found], [ns[m.symbol] for m in found])
        said = "too few or all alike" if rho is None else f"{rho:.2f}"
        axes.set_title(f"{_size(length)} blocks: rank correlation {said} ({len(found)} variants)", fontsize=9)
        axes.set_xlabel(f"predicted: cycles on {cpu}")
        axes.set_ylabel("measured: ns")
        axes.margins(0.1)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8, loc="best")
    figure.suptitle(f"{target}, in cache: for 64 bytes of every shard")
    text = (
        "Each point is a variant. A model that ranks well puts them on a rising line: Spearman's rank "
        "correlation 1. It sees the main loop alone, with everything in the first-level cache. Axes do not "
        "begin at 0."
    )
    return Picture(_slug("model", target, cpu), f"Predicted and measured: {target} on {cpu}", text, figure)


def _nanoseconds(m: Measurement) -> float:
    """Time for 64 bytes of every source: rate is k * length / time, in bytes a nanosecond."""
    inputs = _shape(m.cell)[0]
    return 64 * (ANY if inputs == "n" else int(inputs)) / m.rate.median


def pictures(study: Study) -> list[Picture]:
    """All pictures for which the study has the data, in the order of the page."""
    cells = list(dict.fromkeys(m.cell for m in study.measurements))
    found = [
        *(
            _shapes(study, *at)
            for at in dict.fromkeys((c.target.split(":")[0], c.isa, c.regime) for c in cells)
        ),
        *(_throughput(study, *at) for at in dict.fromkeys((c.target, c.regime) for c in cells)),
        *(_schedule(study, *at) for at in dict.fromkeys((c.target, c.path) for c in cells)),
        *(_foreseen(study, *at) for at in dict.fromkeys((p.target, p.cpu) for p in study.predictions)),
    ]
    return [picture for picture in found if picture is not None]
