"""The generated part of bench/results/performance.md: the list of published pages, and a table that compares
their figures, and those of bench.limits, with the speeds that the project requires.
"""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from bench.build import RESULTS
from bench.curves import Table, tables
from bench.table import TITLES
from gfsmith.emit.files import replacing

INDEX = "performance.md"  #: in bench/results
PAGES = "performance"  #: the folder of the pages beside it
LIMITS = "limits"  #: the folder of the searched limits beside it
BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"
NONE = "not measured"
_PEERS = TITLES["table"]


@dataclass(frozen=True, slots=True)
class Target:
    """The least ratio to the fastest peer in the cells of some groups whose code and place match."""

    what: str
    least: float
    groups: tuple[str, ...]
    code: str = "*"
    place: str = "*"


#: Group -> difference of its cells from cells of the same code and place in other groups.
_HOW = {"threads": ", two threads", "batch": ", batch call"}
#: Groups that compare codec calls with a peer that computes the same stripes.
_CALLS = ("table", "isa", "small", "length", "k", "threads", "batch", "wide")
TARGETS = (
    Target("every cell of codec calls", 1.0, _CALLS),
    Target("four parities, 4 KiB in cache", 1.5, ("table", "k"), "*+4 *", "in cache 4 KiB"),
    Target("batch calls, 1 KiB from memory", 2.5, ("batch",), "*", "DRAM 1 KiB"),
    Target("`lch` with 55 to 128 parities", 1.5, ("wide",)),
    Target("AVX2 without GFNI", 2.0, ("isa",), "* avx2"),
)


def _number(row: dict[str, str], column: str) -> float | None:
    text = row.get(column, "").rstrip("x")
    return None if text in ("", "-") else float(text)


def _median(page: dict[str, Table], column: str) -> str:
    found = [value for row in page.get(_PEERS, []) if (value := _number(row, column)) is not None]
    return f"{statistics.median(found):.2f}" if found else NONE


def _met(shares: Sequence[tuple[float, str]], least: Callable[[int], float]) -> str:
    """Return how many shares are at least the required one, and the smallest with its cell."""
    if not shares:
        return NONE
    met = sum(share >= least(n) for n, (share, _) in enumerate(shares))
    smallest, where = min(shares)
    return f"{met} of {len(shares)}; least {smallest:.2f} ({where})"


def _ratios(page: dict[str, Table], target: Target) -> str:
    # Groups share some cells: count each once.
    found: dict[tuple[str, str], float] = {}
    for group in target.groups:
        for row in page.get(TITLES[group], []):
            ratio = _number(row, "ratio")
            if (
                ratio is not None
                and fnmatch(row["code"], target.code)
                and fnmatch(row["where"], target.place)
            ):
                found.setdefault((row["code"], row["where"] + _HOW.get(group, "")), ratio)
    shares = [(ratio, f"{code}, {where}") for (code, where), ratio in found.items()]
    return _met(shares, lambda _: target.least)


def required(cell: dict[str, Any]) -> float:
    """Return the share of the searched limit that the project requires in a cell of bench.limits."""
    if cell["regime"] == "resident":
        return 0.9
    return 0.95 if cell["length"] >= 4096 else 0.9


def _searched(recorded: dict[str, Any] | None, regime: str) -> str:
    cells = [cell for cell in recorded["cells"] if cell["regime"] == regime] if recorded else []
    shares = [(cell["share"]["median"], f"{cell['code']}, {cell['where']}") for cell in cells]
    return _met(shares, lambda n: required(cells[n]))


def _column(page: dict[str, Table], recorded: dict[str, Any] | None) -> Iterator[str]:
    yield f"{_median(page, 'ratio')}; of the touch loop {_median(page, 'touch ratio')}"
    yield from (_ratios(page, target) for target in TARGETS)
    yield from (_searched(recorded, regime) for regime in ("resident", "dram"))


def targets(top: Path) -> str:
    """Return the table of all CPUs that have a page."""
    names, columns = [], []
    for file in sorted((top / PAGES).glob("*.md")):
        recorded = top / LIMITS / f"{file.stem}.json"
        searched = json.loads(recorded.read_text(encoding="utf-8")) if recorded.exists() else None
        names.append(file.stem)
        columns.append(list(_column(tables(file.read_text(encoding="utf-8")), searched)))
    rows = [
        ("median over the fastest peer, first table", "2.0"),
        *((target.what, str(target.least)) for target in TARGETS),
        ("share of the searched limit, in cache", "0.9"),
        ("share of the searched limit, from memory", "0.95; below 4 KiB 0.9"),
    ]
    lines = [f"| cells | required | {' | '.join(names)} |", "|---|---|" + "---|" * len(names)]
    lines += [f"| {' | '.join((*row, *values))} |" for row, *values in zip(rows, *columns, strict=True)]
    return "\n".join(lines) + "\n"


def listed(folder: Path) -> str:
    """Return the list of the pages in a folder, each with its first line."""
    lines = []
    for file in sorted(folder.glob("*.md")):
        found = re.search(r"^Machine: (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
        assert found is not None, f"{file.name} does not name its machine"
        lines.append(f"- [{file.stem}]({folder.name}/{file.name}): {found[1]}\n")
    return "".join(lines)


def update(top: Path = RESULTS) -> None:
    """Write the list and the table into the index."""
    path = top / INDEX
    before, rest = path.read_text(encoding="utf-8").split(BEGIN)
    text = f"{before}{BEGIN}\n{listed(top / PAGES)}\n{targets(top)}{END}{rest.split(END)[1]}"
    with replacing(path) as stage:
        stage.write_text(text, encoding="utf-8")
