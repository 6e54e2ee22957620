"""Pictures of a study: the gains, the influence of settings, and the quality of the model's ranking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from gfsmith.explore.tune.canvas import (
    BLACK,
    BLUE,
    DPI,
    GREEN,
    GREY,
    ORANGE,
    RED,
    REGIME,
    Picture,
    best_known,
    file_name,
    grouped,
    panels_of,
    size,
)
from gfsmith.explore.tune.foresight import correlations, searched
from gfsmith.explore.tune.heat import schedule, shapes
from gfsmith.explore.tune.result import Cell, Measurement, Regime, Study

_WIDE = (11.5, 5.0)  #: inches
_WINNERS = ((BLUE, "o"), (RED, "s"), (GREEN, "^"), (ORANGE, "D"), ("#cc79a7", "v"), ("#56b4e9", "P"))


def _variant(axes: Axes, points: Sequence[Measurement], colour: str, marker: str, label: str) -> None:
    """Draw a line with its intervals."""
    ordered = sorted(points, key=lambda m: m.cell.length)
    rates = [m.rate for m in ordered]
    errors = [[r.median - r.low for r in rates], [r.high - r.median for r in rates]]
    axes.errorbar(
        [m.cell.length for m in ordered], [r.median for r in rates], errors,
        fmt=f"{marker}-", color=colour, label=label, linewidth=1.8, markersize=5, capsize=2,
    )  # fmt: skip


def _others(axes: Axes, variants: Sequence[Sequence[Measurement]]) -> None:
    """Draw as points all variants that neither won nor are the reference."""
    if variants:
        points = [m for variant in variants for m in variant]
        lengths, rates = [m.cell.length for m in points], [m.rate.median for m in points]
        label = f"{len(variants)} other variants"
        axes.plot(lengths, rates, ".", color=GREY, markersize=4, label=label, zorder=1)


_ROOFS = (
    ("memory", "--", "memory: same bytes, only added"),
    ("ports", ":", "ports, modelled: reference's loop"),
)


def _roof(axes: Axes, study: Study, cells: Sequence[Cell], top: float) -> None:
    """Draw the machine's limits. A limit far above all variants appears in the legend only, so that the rest
    keeps its scale."""
    for name, style, label in _ROOFS:
        found = [(b.cell.length, getattr(b, name)) for b in study.bounds if b.cell in cells]
        points = sorted((length, rate) for length, rate in found if rate is not None)
        least = min((rate for _, rate in points), default=0.0)
        if least > 2 * top:
            points, label = [], f"{label.partition(':')[0]}: {least:.0f} GB/s, off the scale"
        elif not points:
            continue
        axes.plot(
            [n for n, _ in points], [r for _, r in points], style, color=BLACK, linewidth=1.4, label=label
        )


def _throughput(study: Study, target: str, regime: Regime) -> Picture | None:
    """Draw every variant at every block length: the reference, the winners, and the others in grey."""
    mine = [m for m in study.measurements if m.cell.target == target and m.cell.regime is regime]
    variants = grouped(best_known(mine).values(), lambda m: m.symbol)
    cells = list(dict.fromkeys(m.cell for m in mine))
    if not cells:
        return None
    winners = dict.fromkeys(w.symbol for w in study.winners if w.cell in cells)
    figure = Figure(figsize=_WIDE, dpi=DPI, layout="constrained")
    axes = figure.add_subplot()
    reference = [symbol for symbol, points in variants.items() if points[0].reference]
    won = [symbol for symbol in winners if symbol in variants and symbol not in reference][: len(_WINNERS)]
    for symbol in reference:
        _variant(axes, variants[symbol], BLACK, "x", f"reference: {settings(variants[symbol][0])}")
    for (colour, marker), symbol in zip(_WINNERS, won, strict=False):
        _variant(axes, variants[symbol], colour, marker, f"won: {settings(variants[symbol][0])}")
    _others(axes, [points for symbol, points in variants.items() if symbol not in (*reference, *won)])
    _roof(axes, study, cells, max(m.rate.high for points in variants.values() for m in points))
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(FuncFormatter(size))
    axes.set_xticks(sorted({c.length for c in cells}))
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    axes.set_xlabel("block length (bytes of one shard)")
    axes.set_ylabel("GB/s of source data, one thread")
    axes.set_title(f"{target}, {REGIME[regime]}")
    axes.grid(alpha=0.3)
    figure.legend(fontsize=9, loc="outside right upper", frameon=False)
    title = f"Throughput of {target}, {REGIME[regime]}"
    text = (
        "One point per variant and block length; bars are confidence intervals. Grey: variants of the "
        "search, not measured again. The memory line is the speed of a kernel of the same shape that only "
        "adds; the port line is the model's for the reference's own loop, and a variant with fewer products "
        "may exceed it."
    )
    return Picture(file_name("throughput", target, regime.value), title, text, figure)


def settings(m: Measurement) -> str:
    """Return a variant in a few words: the settings in which kernels differ."""
    p = m.parameters
    words = [f"u{p['unroll']}"]
    if p.get("circuit", "auto") != "auto":
        words.append(str(p["circuit"]))
    if p.get("width") == 256:
        words.append("256 bits")
    if p.get("order", "sums") != "sums":
        words.append(f"by {p['order']}")
    if p.get("placement") == "memory":
        words.append("tables in memory")
    if p.get("prefetch"):
        words.append(f"prefetch {p['prefetch']} {p.get('hint', '')}".rstrip())
    if p.get("store") == "streaming":
        words.append("streaming")
    return ", ".join([*words, f"{p['outputs']} per pass"] if "+" in m.symbol else words)


def _foreseen(study: Study, target: str, cpu: str) -> Picture | None:
    """Draw predicted cycles against the time measured in cache, one panel per length."""
    cycles = {p.symbols: p.cycles for p in study.predictions if p.target == target and p.cpu == cpu}
    told = [c for c in correlations(study.measurements, study.predictions) if c.cpu == cpu]
    told = sorted((c for c in told if c.cell.target == target), key=lambda c: c.cell.length)
    if not told:
        return None
    figure, panels = panels_of(len(told))
    for axes, correlation in zip(panels, told, strict=True):
        cell = correlation.cell
        found = [m for m in searched(study.measurements, cell) if m.symbols in cycles]
        for reference, style in ((False, _VARIANTS), (True, _REFERENCE)):
            points = [(cycles[m.symbols], 1 / m.speed.median) for m in found if m.reference is reference]
            axes.plot([x for x, _ in points], [y for _, y in points], linestyle="none", **style)
        rho = f"rank correlation {correlation.rho:.2f}"
        axes.set_title(f"{size(cell.length)} blocks: {rho} ({len(found)} variants)", fontsize=9)
        axes.set_xlabel(f"predicted: cycles on {cpu} for 64 bytes of every shard", fontsize=8)
        axes.set_ylabel("measured: time / time of the reference", fontsize=8)
        axes.margins(0.1)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8, loc="best")
    figure.suptitle(f"{target}, in cache: the model of {cpu}")
    text = (
        "Each point is a variant that the search tried. A model that ranks well puts them on a rising line: "
        "Spearman's rank correlation 1. It covers the main loop only, with all data in the first-level "
        "cache. Axes do not begin at 0."
    )
    return Picture(
        file_name("model", target, cpu), f"Predicted and measured: {target} on {cpu}", text, figure
    )


_VARIANTS: dict[str, Any] = {
    "marker": "o",
    "color": BLUE,
    "markersize": 5,
    "label": "variants",
    "alpha": 0.9,
}
_REFERENCE: dict[str, Any] = {"marker": "X", "color": RED, "markersize": 8, "label": "reference"}


def pictures(study: Study) -> list[Picture]:
    """Return all pictures for which the study has the data, in the order of the page."""
    cells = list(dict.fromkeys(m.cell for m in study.measurements))
    found = [
        *(
            shapes(study, *at)
            for at in dict.fromkeys((c.target.split(":")[0], c.isa, c.regime) for c in cells)
        ),
        *(_throughput(study, *at) for at in dict.fromkeys((c.target, c.regime) for c in cells)),
        *(schedule(study, *at) for at in dict.fromkeys((c.target, c.path) for c in cells)),
        *(_foreseen(study, *at) for at in dict.fromkeys((p.target, p.cpu) for p in study.predictions)),
    ]
    return [picture for picture in found if picture is not None]
