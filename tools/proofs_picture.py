"""The picture docs/pictures/proofs.svg: numbers of kernels that each method covers.

gen_out/PROOFS.json, which `gfsmith gen` writes, has the proofs. Two records in tests/unit/golden, which
tests write with --update-golden, have the kernels whose compiled object code tests proved, and the kernels
that tests executed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure

ABOUT = (
    "Proofs by instruction set: a table of the kernels, and of those with a program proof, with a "
    "machine-code proof, and executed in tests"
)
GREY, FULL = "#5b6878", "#d8ecd9"

#: A record: instruction set -> symbols ("symbols"), and the program that made the evidence.
Record = Mapping[str, Mapping[str, object]]

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


def _recorded(record: Record, isa: str, known: Iterable[str]) -> int:
    """Return the number of kernels of a set that a record has."""
    symbols = record.get(isa, {}).get("symbols", ())
    assert isinstance(symbols, Sequence)
    return len(set(symbols) & set(known))


def rows(kernels: Iterable[dict[str, object]], objects: Record, executed: Record) -> list[Row]:
    """Return the rows from PROOFS.json and the two records. A kernel counts if every ABI's proof of it
    succeeded."""
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
        how = str(executed.get(isa, {}).get("executor", ""))
        compiled, ran = (_recorded(record, isa, known) for record in (objects, executed))
        result.append(Row(isa, total, program, code, compiled, ran, how))
    return result


def _cells(row: Row) -> Iterator[tuple[str, bool]]:
    """Yield text and whether the cell is full."""
    yield str(row.kernels), False
    yield str(row.program), row.program == row.kernels
    if row.compiled:
        yield f"{row.compiled}  as clang compiles", row.compiled == row.kernels
    else:
        yield (str(row.machine) if row.machine else "-"), row.machine == row.kernels
    yield (f"{row.executed}  {row.how}" if row.executed else "-"), row.executed == row.kernels


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


def draw(shown: Sequence[Row]) -> Figure:
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
