"""The variants of studies as rows of equal columns, which the report filters, sorts and plots."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import inf

from gfsmith.explore.tune import show
from gfsmith.explore.tune.result import Bound, Cell, Measurement, Phase, Prediction, Study, Winner

Value = int | float | str | None
Row = dict[str, Value]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the report's table. choices: the page offers its values as a filter."""

    name: str
    heading: str
    choices: bool = True


#: Parameters of a kernel. They are the names in `Measurement.parameters`, except technique, which follows
#: from the instruction set.
PARAMETERS = (
    "unroll", "order", "placement", "prefetch", "hint", "store", "circuit", "width", "outputs",
)  # fmt: skip

COLUMNS = (
    Column("cpu", "CPU"),
    Column("isa", "instruction set"),
    Column("kind", "code"),
    Column("shape", "shape"),
    Column("path", "path"),
    Column("length", "block length"),
    Column("kernel", "kernel"),
    Column("result", "result"),
    Column("phase", "phase"),
    Column("speed", "speed / reference", choices=False),
    Column("rate", "GB/s", choices=False),
    Column("memory", "% of memory limit", choices=False),
    Column("ports", "% of port limit", choices=False),
    Column("cycles", "predicted cycles / 64 bytes", choices=False),
    Column("model", "model of"),
    *(Column(name, name) for name in PARAMETERS),
    Column("symbol", "symbol", choices=False),
)


def settings(parameters: dict[str, int | str], symbols: tuple[str, ...]) -> str:
    """Return a variant in a few words: the settings in which kernels differ."""
    words = [f"u{parameters['unroll']}"]
    if parameters.get("circuit", "auto") != "auto":
        words.append(str(parameters["circuit"]))
    if parameters.get("width") == 256:
        words.append("256 bits")
    if parameters.get("order", "sums") != "sums":
        words.append(f"by {parameters['order']}")
    if parameters.get("placement") == "memory":
        words.append("tables in memory")
    if parameters.get("prefetch"):
        words.append(f"prefetch {parameters['prefetch']} {parameters.get('hint', '')}".rstrip())
    if parameters.get("store") == "streaming":
        words.append("streaming")
    if len(symbols) > 1:
        words.append(f"{parameters['outputs']} per pass")
    return ", ".join(words)


def _best_known(study: Study) -> Iterable[Measurement]:
    """Return one measurement of each variant in each cell: that of the final if there is one."""
    found: dict[tuple[Cell, str], Measurement] = {}
    for m in sorted(study.measurements, key=lambda m: m.phase is Phase.FINAL):
        found[m.cell, m.symbol] = m
    return found.values()


def _measured(study: Study) -> Iterator[tuple[Measurement | Winner, str, str]]:
    """Yield every variant with its phase and its kernel, `reference` or `variant`. A recorded study may lack
    the measurements of its winners."""
    known = set()
    for m in _best_known(study):
        known.add((m.cell, m.symbol))
        yield m, m.phase.value, "reference" if m.reference else "variant"
    for won in study.winners:
        if (won.cell, won.symbol) not in known:
            yield won, Phase.FINAL.value, "variant" if won.changed else "reference"


def _result(winners: dict[Cell, Winner], cell: Cell, symbol: str) -> str:
    if cell not in winners:
        return "no final"
    if symbol == winners[cell].symbol:
        return "winner"
    return "tied" if symbol in winners[cell].tied else "other"


def _predictions(study: Study) -> dict[tuple[str, tuple[str, ...]], Prediction]:
    """Return one prediction of each variant: that for the study's own CPU if there is one."""
    ordered = sorted(study.predictions, key=lambda p: p.cpu == study.microarchitecture)
    return {(p.target, p.symbols): p for p in ordered}


def _limits(bound: Bound | None, rate: float) -> Row:
    """Return the shares of the cell's limits that a rate reaches, in percent, and the lower limit in GB/s."""
    memory, ports = (bound.memory, bound.ports) if bound else (None, None)
    return {
        "memory": _short(100 * rate / memory) if memory else None,
        "ports": _short(100 * rate / ports) if ports else None,
        "limit": _short(min(known)) if (known := [limit for limit in (memory, ports) if limit]) else None,
    }


def _short(value: float) -> float:
    """Return a number with five digits."""
    return float(f"{value:.5g}")


def _rows(study: Study) -> Iterator[Row]:
    winners = {won.cell: won for won in study.winners}
    bounds = {bound.cell: bound for bound in study.bounds}
    foreseen = _predictions(study)
    for found, phase, kernel in _measured(study):
        cell, told = found.cell, foreseen.get((found.cell.target, found.symbols))
        result = _result(winners, cell, found.symbol)
        yield {
            "cpu": study.microarchitecture,
            "isa": cell.isa,
            "kind": cell.target.partition(":")[0],
            "shape": cell.shape,
            "path": cell.path,
            "length": cell.length,
            **{name: found.parameters.get(name, "unknown") for name in PARAMETERS},
            "kernel": kernel,
            "result": result,
            "phase": phase,
            "speed": _short(found.speed.median),
            "interval": show.interval(found.speed),
            "rate": _short(found.rate.median),
            **_limits(bounds.get(cell), found.rate.median),
            "cycles": _short(told.cycles) if told else None,
            "model": told.cpu if told else "none",
            "symbol": found.symbol,
            "target": cell.target,
            "settings": settings(found.parameters, found.symbols),
            "mark": kernel if kernel == "reference" else result,
        }


def rows(studies: Iterable[Study]) -> list[Row]:
    """Return a row for each variant in each cell of the studies, with the columns of COLUMNS and five more.

    interval: the text of speed with its confidence interval; limit: the lower limit of the cell in GB/s;
    target, settings: texts that name the variant; mark: `reference` or the result, which the plots show.
    """
    return [row for study in studies for row in _rows(study)]


def choices(found: list[Row]) -> dict[str, list[Value]]:
    """Return the values of each column that the page can filter, in ascending order, numbers first. A column
    with a single value has no filter."""
    values = {column.name: {row[column.name] for row in found} for column in COLUMNS if column.choices}
    return {name: sorted(seen, key=_order) for name, seen in values.items() if len(seen) > 1}


def _order(value: Value) -> tuple[float, list[str | int]]:
    """Return a sort key: numbers before texts, and the numbers in texts by value, 9x4 before 10x4."""
    if isinstance(value, str):
        return inf, [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", value)]
    return value or 0, []


def text(row: Row, name: str) -> str:
    """Return the text of a row's cell."""
    value = row[name]
    match name:
        case "speed":
            return str(row["interval"])
        case "length" if isinstance(value, int):
            return show.size(value)
        case "rate" | "cycles" if isinstance(value, float):
            return f"{value:.2f}"
        case "memory" | "ports" if isinstance(value, float):
            return f"{value:.0f}"
    return "" if value is None else str(value)
