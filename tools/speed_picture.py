"""The picture bench/results/speed.svg: speeds of gfsmith and the fastest peer, from the tables of a page of
bench/results/performance.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from matplotlib import pyplot
from matplotlib.figure import Figure

from bench.curves import tables

#: The page that is drawn.
CPU = "znver4"
PAGE = f"{CPU}.md"
ABOUT = (
    "Speed of gfsmith over the speed of the fastest peer: bars for encoding, decoding and updating of "
    "several shapes, in cache and from DRAM, with 95 % intervals"
)
AHEAD, BEHIND, GREY = "#c1121f", "#1d3557", "#5b6878"

PEERS, SETS, SMALL = (
    "Against the fastest peer",
    "Other instruction sets, against the same set of ISA-L",
    "Small calls",
)
PAPER = "Table I of the paper: GFNI over AVX2's tables"

#: Table, code, place: shapes of storage systems, and the smallest gains among them. The page's least cell is
#: added.
BARS = (
    (PEERS, "10+4 cauchy", "in cache 4 KiB"),
    (PEERS, "10+4 cauchy", "DRAM 1 KiB"),
    (PEERS, "10+4 cauchy", "DRAM 64 KiB"),
    (PEERS, "12+4 backblaze", "in cache 4 KiB"),
    (PEERS, "12+4 backblaze", "DRAM 64 KiB"),
    (PEERS, "28+4 backblaze", "DRAM 64 KiB"),
    (PEERS, "16+8 cauchy", "in cache 4 KiB"),
    (PEERS, "100+20 cauchy", "in cache 4 KiB"),
    (SETS, "10+4 cauchy avx2", "in cache 4 KiB"),
    (PEERS, "10+4 decode", "in cache 4 KiB"),
    (SMALL, "10+4 cauchy", "in cache 64 B"),
)
#: Functions of the paper's table -> description; their coefficients are known at run time only, as in ISA-L.
FUNCTIONS = {"encode update": "10+4 update, run-time tables", "gf_vect_mad": "multiply and add, one source"}


@dataclass(frozen=True, slots=True)
class Bar:
    """A ratio of speeds, gfsmith's over the fastest peer's, with its interval; absolute: in words."""

    label: str
    ratio: float
    low: float
    high: float
    absolute: str


def _bar(row: dict[str, str], note: str = "") -> Bar:
    low, high = (float(end) for end in row["interval"].split(".."))
    words = f"{row['gfsmith']} : {row['fastest peer']} GB/s, {row['']}"
    return Bar(f"{row['code']}, {row['where']}{note}", float(row["ratio"].rstrip("x")), low, high, words)


def _least(page: dict[str, list[dict[str, str]]]) -> Bar:
    """Return the bar of the cell with the least ratio in all tables of codec calls."""
    cells = [
        (float(row["ratio"].rstrip("x")), title, row)
        for title, rows in page.items()
        for row in rows
        if "ratio" in row
    ]
    _, title, row = min(cells, key=lambda cell: cell[0])
    return _bar(row, f"\n({title.split(',')[0].lower()}; least of {len(cells)} cells)")


def bars(text: str) -> list[Bar]:
    """Return the bars of speed.svg. Raises ValueError if the page lacks a cell."""
    page = tables(text)
    found = []
    for title, code, place in BARS:
        row = next((r for r in page.get(title, []) if (r["code"], r["where"]) == (code, place)), None)
        if row is None:
            raise ValueError(f"{PAGE}: no row '{code}', '{place}' under '{title}'")
        found.append(_bar(row))
    for row in page.get(PAPER, []):
        if row["function"] in FUNCTIONS:
            numbers = [float(number) for number in re.findall(r"\d+\.\d+", row["gfsmith/ISA-L"])]
            found.append(Bar(FUNCTIONS[row["function"]], *numbers, "isal, its best"))
    if len(found) != len(BARS) + len(FUNCTIONS):
        raise ValueError(f"{PAGE}: '{PAPER}' lacks one of {', '.join(FUNCTIONS)}")
    return sorted([*found, _least(page)], key=lambda bar: -bar.ratio)


def machine(text: str) -> str:
    """Return the measured CPU as named by the page."""
    found = re.search(r"^Machine: ([^,]+),.*?; ([^.]+)\. Set:", text, re.MULTILINE)
    if found is None:
        raise ValueError(f"{PAGE}: no line that names the machine")
    return f"{found[1]} ({found[2]})"


def draw(text: str) -> Figure:
    shown = bars(text)
    figure, axes = pyplot.subplots(figsize=(8.4, 4.4))
    figure.subplots_adjust(left=0.29, right=0.71, top=0.86, bottom=0.14)
    for y, bar in enumerate(reversed(shown)):
        colour = AHEAD if bar.low > 1 else BEHIND
        axes.barh(y, bar.ratio - 1, left=1, height=0.6, color=colour)
        axes.plot([bar.low, bar.high], [y, y], color="black", linewidth=1)
        axes.text(1.02, y, bar.absolute, transform=axes.get_yaxis_transform(), va="center", color=GREY)
        axes.text(max(bar.high, 1) + 0.04, y, f"{bar.ratio:.2f}", va="center")
    axes.set_yticks(range(len(shown)), [bar.label for bar in reversed(shown)])
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xlim(0.8, 3.95)
    axes.set_ylim(-0.6, len(shown) - 0.4)
    axes.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.set_xlabel("speed of gfsmith / speed of the fastest peer (below 1 the peer is ahead)")
    figure.text(0.01, 0.95, "Encoding compared with ISA-L, klauspost and others, one thread", fontsize=11)
    figure.text(0.01, 0.905, f"{machine(text)}; medians of paired rounds, 95 % intervals", color=GREY)
    return figure
