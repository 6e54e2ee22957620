"""PNG pictures: throughput by block length and by number of sources, one line per library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.axes import Axes

from bench.results import Result

#: Library -> label and colour, the same in every picture; in the order of the legend.
LINES = {
    "gfsmith": ("gfsmith", "#c1121f"),
    "isal:avx512_gfni": ("ISA-L avx512_gfni", "#1d3557"),
    "isal:avx2_gfni": ("ISA-L avx2_gfni", "#457b9d"),
    "isal:avx512": ("ISA-L avx512", "#1d3557"),
    "isal:avx2": ("ISA-L avx2", "#457b9d"),
    "klauspost:serial": ("klauspost, serial", "#2a9d8f"),
    "klauspost:parallel": ("klauspost, forced parallel", "#8ab17d"),
    "klauspost:leopard": ("klauspost, Leopard (another code)", "#b5c99a"),
    "rust:erasure": ("reed-solomon-erasure (Backblaze's code)", "#e9a03b"),
    "rust:simd": ("reed-solomon-simd (another code)", "#b5838d"),
    "jerasure:default": ("Jerasure, gf-complete", "#6d6875"),
}

Axis = Callable[[Result], int]


@dataclass(frozen=True, slots=True)
class Picture:
    """One PNG: the results in it, and its axis."""

    file: str
    title: str
    label: str
    group: str
    code: str
    regime: str
    axis: Axis


def _length(result: Result) -> int:
    return result.cell.length


def _sources(result: Result) -> int:
    return result.cell.k


PICTURES = (
    Picture("length-cache-cauchy.png", "10+4, Cauchy, in cache", "bytes of a shard", "length", "cauchy",
            "resident", _length),
    Picture("length-cache-lch.png", "10+4, gfsmith's own code, in cache", "bytes of a shard", "length",
            "lch", "resident", _length),
    Picture("length-dram-cauchy.png", "10+4, Cauchy, from DRAM", "bytes of a shard", "length", "cauchy",
            "dram", _length),
    Picture("length-dram-lch.png", "10+4, gfsmith's own code, from DRAM", "bytes of a shard", "length",
            "lch", "dram", _length),
    Picture("k-cache-cauchy.png", "k+4, Cauchy, 4 KiB in cache", "data shards, k", "k", "cauchy",
            "resident", _sources),
    Picture("k-cache-lch.png", "k+4, gfsmith's own code, 4 KiB in cache", "data shards, k", "k", "lch",
            "resident", _sources),
)  # fmt: skip


def _line(axes: Axes, points: Sequence[Result], axis: Axis, who: str) -> None:
    """Draw one library with its intervals, where it has figures."""
    label, colour = LINES[who]
    found = [
        (axis(r), r.gbps[name]) for r in points if (name := r.own if who == "gfsmith" else who) in r.gbps
    ]
    if not found:
        return
    x = [at for at, _ in found]
    wide = 2.4 if who == "gfsmith" else 1.4
    axes.plot(x, [e.median for _, e in found], "o-", color=colour, label=label, linewidth=wide, markersize=3)
    axes.fill_between(x, [e.low for _, e in found], [e.high for _, e in found], color=colour, alpha=0.15)


def _limits(axes: Axes, points: Sequence[Result], axis: Axis) -> None:
    touched = [(axis(r), r.gbps[r.limit].median) for r in points if r.limit]
    bounded = [(axis(r), r.port_bound) for r in points if r.port_bound]
    for style, label, found in (
        ("--", "touch loop: same bytes, no computation", touched),
        (":", "port bound of a dense product", bounded),
    ):
        if found:
            axes.plot(*zip(*found, strict=True), style, color="black", linewidth=1.2, label=label)


def _draw(picture: Picture, points: Sequence[Result], out: Path) -> None:
    figure, axes = pyplot.subplots(figsize=(9, 5), dpi=110)
    for who in LINES:
        _line(axes, points, picture.axis, who)
    _limits(axes, points, picture.axis)
    if picture.group == "length":
        axes.set_xscale("log", base=2)
    axes.set_xlabel(picture.label)
    axes.set_ylabel("GB/s of source data, one thread")
    axes.set_title(picture.title)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False)
    figure.savefig(out / picture.file, bbox_inches="tight", metadata={"Software": None})
    pyplot.close(figure)


def write_plots(results: Sequence[Result], out: Path) -> list[tuple[str, str]]:
    """Draw the pictures with at least two points; return their files and titles."""
    written = []
    for picture in PICTURES:
        wanted = (picture.group, picture.code, picture.regime)
        points = [r for r in results if r.own and (r.cell.group, r.cell.code, r.cell.regime) == wanted]
        if len(points) >= 2:
            _draw(picture, points, out)
            written.append((picture.file, picture.title))
    return written
