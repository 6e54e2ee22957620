"""Pictures of a page of bench/results/performance, drawn from the tables of the page itself."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.build import ROOT
from bench.style import GREY, NAVY, RED, STYLE, legend, panels, size_axis, svg
from bench.table import TITLES

MANIFEST = ROOT / "gen_out" / "MANIFEST.json"
Table = list[dict[str, str]]
UNITS = {"B": 1, "KiB": 1024}
#: Column of the tables -> label, colour, style of the line.
LINES = {
    "gfsmith": ("gfsmith", RED, "o-"),
    "fastest peer": ("fastest peer", NAVY, "s-"),
    "touch loop": ("touch loop: same bytes, no computation", "black", "--"),
    "port bound": ("port bound of a dense product", GREY, ":"),
}


def tables(text: str) -> dict[str, Table]:
    """Return the Markdown tables of a page, by the heading above each."""
    found: dict[str, Table] = {}
    heading, columns = "", list[str]()
    for line in text.splitlines():
        if line.startswith("## "):
            heading, columns = line[3:], []
        elif line.startswith("|") and not line.startswith("|---"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if not columns:
                columns = cells
            else:
                found.setdefault(heading, []).append(dict(zip(columns, cells, strict=True)))
    return found


def _length(row: dict[str, str]) -> int:
    number, unit = row["where"].split()[-2:]
    return int(number) * UNITS[unit]


def _sources(row: dict[str, str]) -> int:
    return int(row["code"].split("+")[0])


def _draw(axes: Axes, rows: Table, x_of: Callable[[dict[str, str]], int]) -> None:
    for column, (label, colour, style) in LINES.items():
        points = [(x_of(row), float(row[column])) for row in rows if row[column] not in ("", "-")]
        if points:
            axes.plot(*zip(*points, strict=True), style, color=colour, label=label, markersize=4)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("GB/s of source data")


def _rows(page: dict[str, Table], title: str, code: str, regime: str) -> Table:
    """Return the rows of a table whose code and regime are given. Raises ValueError without two of them."""
    found = [
        row
        for row in page.get(title, [])
        if row["code"].split()[1] == code and row["where"].startswith(regime) and row["gfsmith"] != "-"
    ]
    if len(found) < 2:
        raise ValueError(f"performance: fewer than 2 rows of '{code}', '{regime}' under '{title}'")
    return found


CODES = {"cauchy": "Cauchy matrix", "lch": "gfsmith's own code, lch"}


def draw_lengths(page: dict[str, Table], isa: str) -> Figure:
    """Draw throughput by bytes of a shard: two codes, in cache and from DRAM."""
    figure, axes = panels("Encoding 10+4 on one thread", 4)
    sides = [(code, regime) for regime in ("in cache", "DRAM") for code in CODES]
    for axis, (code, regime) in zip(axes, sides, strict=True):
        rows = _rows(page, TITLES["length"], code, regime)
        _draw(axis, rows, _length)
        lengths = [_length(row) for row in rows]
        step = 3 if len(lengths) > 6 else 1
        size_axis(axis, lengths[::-step][::-1], "bytes of a shard")
        axis.set_title(f"{CODES[code]}, {'in cache' if regime == 'in cache' else 'from DRAM'}")
    legend(figure, axes, 2)
    return figure


def known_matrices(isa: str) -> set[tuple[int, str]]:
    """Return (k, code) of the default set's kernels for known matrices with 4 outputs."""
    kernels = json.loads(MANIFEST.read_text(encoding="utf-8"))["kernels"]
    found = (re.match(rf"gfs_dot_(\d+)x4_([a-z]+)__{isa}_u", kernel["symbol"]) for kernel in kernels)
    return {(int(one[1]), one[2]) for one in found if one}


def draw_sources(page: dict[str, Table], isa: str) -> Figure:
    """Draw throughput by number of data shards: two codes, in cache. Rings mark the shapes with a kernel for
    their known matrix, which explains the peaks."""
    figure, axes = panels("Encoding k+4 on one thread, shards of 4 KiB in cache", 2, height=3.0)
    own = known_matrices(isa)
    for axis, code in zip(axes, CODES, strict=True):
        rows = _rows(page, TITLES["k"], code, "in cache")
        _draw(axis, rows, _sources)
        marked = [(_sources(row), float(row["gfsmith"])) for row in rows if (_sources(row), code) in own]
        axis.plot(*zip(*marked, strict=True), "o", color=RED, fillstyle="none", markersize=9,
                  label="gfsmith with a kernel for the known matrix")  # fmt: skip
        axis.set_xlabel("data shards, k")
        axis.set_title(CODES[code])
    legend(figure, axes, 2)
    return figure


#: Name -> text alternative, function of the tables and the set.
PICTURES: dict[str, tuple[str, Callable[[dict[str, Table], str], Figure]]] = {
    "length": (
        "Throughput of 10+4 by bytes of a shard, in cache and from DRAM, with a Cauchy matrix and with lch: "
        "gfsmith, the fastest peer, a touch loop and the port bound of a dense product",
        draw_lengths,
    ),
    "k": (
        "Throughput of k+4 by number of data shards, 4 KiB in cache, with a Cauchy matrix and with lch: "
        "gfsmith, the fastest peer, a touch loop and the port bound of a dense product. Rings and peaks: "
        "shapes with a kernel for their known matrix",
        draw_sources,
    ),
}


def _file(cpu: str, picture: str) -> str:
    return f"{cpu}-{picture}.svg"


def links(cpu: str) -> str:
    """Return the pictures of a CPU's page as Markdown."""
    return "".join(f"![{what}]({_file(cpu, name)})\n\n" for name, (what, _) in PICTURES.items())


def draw(text: str, cpu: str) -> dict[str, str]:
    """Return file names and contents of the pictures, for the text of the page. Raises ValueError."""
    page, isa = tables(text), re.search(r"^Machine: .* Set: (\w+)\.", text, re.MULTILINE)
    if isa is None:
        raise ValueError("performance: no line that names the machine and its set")
    with matplotlib.rc_context(STYLE):
        return {_file(cpu, name): svg(make(page, isa[1]), what) for name, (what, make) in PICTURES.items()}
