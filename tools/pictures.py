"""Pictures of README.md, docs/compose/guide.md and performance.md: python -m tools.pictures draws them; with
--check it names the stale ones.

bench/results/speed.svg, throughput-length.svg and throughput-k.svg are drawn from the tables of
performance.md, which `make bench` measured and `--publish` wrote; docs/pictures/proofs.svg from
gen_out/PROOFS.json, tests/unit/golden/proved_objects.json and the tests that execute kernels;
docs/pictures/graphs.svg (graph_picture.py) from the layouts of `gfsmith graph`. None has a date or a host;
matplotlib is pinned, so the same data give the same bytes.
"""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench import curves
from bench.curves import tables
from tests.support.cpu import CPU_FLAGS
from tests.system.bindings.wasm.support import VARIANTS
from tests.system.kernels.emulated import EMULATIONS
from tests.unit.prove import proved_objects
from tools import graph_picture

ROOT = Path(__file__).resolve().parents[1]
PERFORMANCE = ROOT / "bench" / "results" / "performance.md"
PROOFS = ROOT / "gen_out" / "PROOFS.json"
TOP = ROOT  #: folder of the written pictures

AHEAD, BEHIND, GREY, FULL = "#c1121f", "#1d3557", "#5b6878", "#d8ecd9"
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "gfsmith", "font.size": 9, "font.family": "DejaVu Sans"}


# ---- speed ----

PEERS, SETS, SMALL = (
    "Against the fastest peer",
    "Other instruction sets, against the same set of ISA-L",
    "Small calls",
)
PAPER = "Table I of the paper: GFNI over AVX2's tables"

#: Table, code, place: shapes of storage systems, the smallest gains among them, and a cell where ISA-L is
#: faster.
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


def bars(text: str) -> list[Bar]:
    """Return the bars of speed.svg. Raises ValueError if the page lacks a cell."""
    page = tables(text)
    found = []
    for title, code, place in BARS:
        row = next((r for r in page.get(title, []) if (r["code"], r["where"]) == (code, place)), None)
        if row is None:
            raise ValueError(f"{PERFORMANCE.name}: no row '{code}', '{place}' under '{title}'")
        low, high = row["interval"].split("..")
        words = f"{row['gfsmith']} : {row['fastest peer']} GB/s, {row['']}"
        found.append(Bar(f"{code}, {place}", float(row["ratio"].rstrip("x")), float(low), float(high), words))
    for row in page.get(PAPER, []):
        if row["function"] in FUNCTIONS:
            numbers = [float(number) for number in re.findall(r"\d+\.\d+", row["gfsmith/ISA-L"])]
            found.append(Bar(FUNCTIONS[row["function"]], *numbers, "isal, its best"))
    if len(found) != len(BARS) + len(FUNCTIONS):
        raise ValueError(f"{PERFORMANCE.name}: '{PAPER}' lacks one of {', '.join(FUNCTIONS)}")
    return sorted(found, key=lambda bar: -bar.ratio)


def machine(text: str) -> str:
    """Return the measured CPU as named by the page."""
    found = re.search(r"^Machine: ([^,]+),.*?; ([^.]+)\.", text, re.MULTILINE)
    if found is None:
        raise ValueError(f"{PERFORMANCE.name}: no line that names the machine")
    return f"{found[1]} ({found[2]})"


def draw_speed(text: str) -> Figure:
    shown = bars(text)
    figure, axes = pyplot.subplots(figsize=(8.4, 4.4))
    figure.subplots_adjust(left=0.27, right=0.70, top=0.86, bottom=0.14)
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
    figure.text(0.01, 0.95, "Encoding beside ISA-L, klauspost and others, one thread", fontsize=11)
    figure.text(0.01, 0.905, f"{machine(text)}; medians of paired rounds, 95 % intervals", color=GREY)
    return figure


# ---- proofs ----

COLUMNS = ("kernels", "program proved", "machine code proved", "executed in tests")


@dataclass(frozen=True, slots=True)
class Row:
    """Number of kernels of an instruction set that each method covers; how: the program that executes them,
    or ''."""

    isa: str
    kernels: int
    program: int
    machine: int
    compiled: int
    executed: int
    how: str


def executor(isa: str) -> str:
    """Return the program that executes all kernels of a set in the tests; '' if there is none."""
    if isa in CPU_FLAGS:
        return "the CPU"
    if any(emulation.isa == isa for emulation in EMULATIONS):
        return "qemu-user"
    return "Node" if any(variant.isa == isa for variant in VARIANTS) else ""


def rows(kernels: Iterable[dict[str, object]]) -> list[Row]:
    """Return the rows of proofs.svg from PROOFS.json. A kernel counts if every ABI's record of it is
    proved."""
    methods: dict[str, dict[str, set[str]]] = {}
    for record in kernels:
        assert isinstance(record["method"], list)
        found = set(record["method"]) if record["status"] == "proved" else set()
        of_isa = methods.setdefault(str(record["isa"]), {})
        of_isa[str(record["symbol"])] = of_isa.get(str(record["symbol"]), found) & found
    result = []
    for isa, known in methods.items():
        total = len(known)
        program, code = (sum(m in found for found in known.values()) for m in ("program", "machine"))
        how = executor(isa)
        compiled = len(proved_objects.symbols(isa) & known.keys())
        result.append(Row(isa, total, program, code, compiled, total if how else 0, how))
    return result


def _cells(row: Row) -> Iterator[tuple[str, bool]]:
    """Yield text and whether the cell is full."""
    yield str(row.kernels), False
    yield str(row.program), row.program == row.kernels
    if row.compiled:
        yield f"{row.compiled}  as clang compiles", row.compiled == row.kernels
    else:
        yield (str(row.machine) if row.machine else "-"), row.machine == row.kernels
    yield (f"{row.executed}  {row.how}" if row.how else "-"), bool(row.how)


def _total(shown: Sequence[Row]) -> list[str]:
    return [
        str(sum(row.kernels for row in shown)),
        str(sum(row.program for row in shown)),
        str(sum(row.machine + row.compiled for row in shown)),
        str(sum(row.executed for row in shown)),
    ]


def _line(axes: Axes, y: float, name: str, cells: Sequence[tuple[str, bool]], weight: str = "normal") -> None:
    axes.text(0.02, y, name, va="center", weight=weight)
    for place, (text, full) in zip((1.35, 2.05, 3.05, 4.35), cells, strict=True):
        width = {1.35: 0.6, 2.05: 0.95, 3.05: 1.25, 4.35: 1.05}[place]
        if full:
            axes.add_patch(pyplot.Rectangle((place, y - 0.44), width, 0.88, facecolor=FULL, linewidth=0))
        axes.text(place + 0.08, y, text, va="center", weight=weight)


def draw_proofs(text: str) -> Figure:
    shown = rows(json.loads(text)["kernels"])
    figure, axes = pyplot.subplots(figsize=(8.4, 0.22 * (len(shown) + 4)))
    figure.subplots_adjust(left=0.01, right=0.99, top=0.99, bottom=0.01)
    axes.set_xlim(0, 5.45)
    axes.set_ylim(-2.6, len(shown) + 1)
    axes.axis("off")
    _line(axes, len(shown) + 0.4, "instruction set", [(text, False) for text in COLUMNS], "bold")
    for y, row in enumerate(reversed(shown)):
        _line(axes, y, row.isa, list(_cells(row)))
    _line(axes, -1, "all", [(text, False) for text in _total(shown)], "bold")
    notes = (
        "Machine code of x86: for the System V and the Microsoft ABI each. -: not established (SOUNDNESS.md)."
    )
    axes.text(0.02, -2.1, notes, va="center", color=GREY)
    return figure


# ---- both ----


def svg(figure: Figure) -> str:
    """Return the picture as text, equal for equal data."""
    kept = io.StringIO()
    figure.savefig(kept, format="svg", metadata={"Date": None, "Creator": "gfsmith: make pictures"})
    pyplot.close(figure)
    return "\n".join(line.rstrip() for line in kept.getvalue().splitlines()) + "\n"


def pictures() -> dict[str, str]:
    """Return path in the repository -> contents. Raises ValueError, OSError."""
    matplotlib.use("svg")
    with matplotlib.rc_context(STYLE):
        text = PERFORMANCE.read_text(encoding="utf-8")
        return {
            **{f"bench/results/{file}": drawn for file, drawn in curves.draw(text).items()},
            "bench/results/speed.svg": svg(draw_speed(text)),
            "docs/pictures/proofs.svg": svg(draw_proofs(PROOFS.read_text(encoding="utf-8"))),
            "docs/pictures/graphs.svg": svg(graph_picture.draw()),
        }


def main(words: Sequence[str]) -> int:
    if words not in ([], ["--check"]):
        print("usage: python -m tools.pictures [--check]", file=sys.stderr)
        return 2
    stale = [
        name for name, text in pictures().items()
        if not (TOP / name).exists() or (TOP / name).read_text(encoding="utf-8") != text
    ]  # fmt: skip
    if words:
        for name in stale:
            print(f"{name} does not match its data: run `make pictures`", file=sys.stderr)
        return 1 if stale else 0
    for name, text in pictures().items():
        (TOP / name).parent.mkdir(parents=True, exist_ok=True)
        (TOP / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
