"""One run of Frama-C's plug-in Eva on a driver, and the result that it reports."""

from __future__ import annotations

import csv
import re
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.support.c_symbols import symbols
from tests.support.paths import ROOT
from tests.system.analysis.drivers import HERE, Driver

#: Statuses of a property that is shown, or that is part of a model.
_SHOWN = frozenset(
    ("Valid", "Considered valid", "Valid under hyp.", "Dead", "Unreachable", "Valid but dead", "Untried")
)
_INCLUDES = ("runtime/core/include", "runtime/compose/include", "runtime/core/src", "runtime/compose/src")
#: Loops are followed iteration by iteration, and returned statuses keep paths apart. A default contract for a
#: function without code would be a guess, so it is an error.
_EVA = (
    *("-eva", "-eva-no-show-progress", "-eva-no-print", "-eva-msg-key=-initial-state"),
    *("-eva-alloc-builtin", "fresh", "-eva-min-loop-unroll", "20000", "-eva-unroll-recursive-calls", "20"),
    *("-eva-slevel", "20", "-eva-split-return", "auto"),
    *("-kernel-warn-key", "annot:missing-spec=abort", "-metrics", "-metrics-eva-cover"),
)
MACHINE = "gcc_x86_64"
LIMIT = 600  #: seconds of one run


class AnalysisError(RuntimeError):
    """Frama-C did not finish the analysis."""


@dataclass(frozen=True, slots=True, order=True)
class Alarm:
    """A property that Eva did not show: the function in which it is needed, its kind, and its text."""

    function: str
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.function}: {self.kind}: {self.text}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """functions: the statements that Eva reached and all statements, of each function of the analysed
    sources that it reached. shown: the number of properties shown.
    """

    functions: Mapping[str, tuple[int, int]]
    shown: int
    alarms: tuple[Alarm, ...]


def _command(driver: Driver, sources: Iterable[Path], table: Path) -> list[str]:
    models = [HERE / "models" / name for name in driver.models]
    if driver.strings:
        models.append(Path(_share()) / "libc/string.c")
    flags = [f"-include {HERE / 'headers/missing.h'}", f"-I{HERE / 'headers'}", f"-I{HERE / 'models'}"]
    flags += [f"-I{ROOT / name}" for name in (*_INCLUDES, "gen_out")]
    flags += [f"-DGFSMITH_SINGLE_ISA={driver.isa}"] if driver.isa else []
    command = ["frama-c", "-machdep", MACHINE, f"-cpp-extra-args={' '.join(flags)}"]
    command += map(str, (driver.program, *models, *sources))
    command += [*_EVA, *([] if driver.fails else ["-eva-no-alloc-returns-null"])]
    command += ["-eva-use-spec", "gfs_bytes_to_line"] if driver.isa else []
    return [*command, "-then", "-report-csv", str(table)]


@cache
def _share() -> str:
    return subprocess.run(["frama-c", "-print-share-path"], capture_output=True, text=True, check=True).stdout


@cache
def version() -> str:
    done = subprocess.run(["frama-c", "-version"], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def run(driver: Driver, sources: Iterable[Path] | None = None) -> Outcome:
    """Analyse a driver with its sources, or with others of the same number: mutants."""
    sources = tuple(driver.sources if sources is None else sources)
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "properties.csv"
        command = _command(driver, sources, table)
        try:
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT)
        except subprocess.TimeoutExpired as error:
            raise AnalysisError(f"{driver.name}: Frama-C took more than {LIMIT} s") from error
        text = done.stdout + done.stderr
        if done.returncode != 0 or not table.exists() or "====== ANALYSIS SUMMARY" not in text:
            raise AnalysisError(f"{driver.name}: Frama-C did not finish:\n{text[-3000:]}")
        shown, alarms = _properties(table)
    return Outcome(_reached(text, sources), shown, alarms)


def _properties(table: Path) -> tuple[int, tuple[Alarm, ...]]:
    """Return the number of properties shown, and the others. A precondition is listed at each call, and once
    more for all calls.
    """
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    alarms = {
        Alarm(row["function"], row["property kind"], " ".join(row["property"].split()))
        for row in rows
        if row["status"] not in _SHOWN and row["property kind"] != "precondition"
    }
    return sum(row["status"] == "Valid" for row in rows), tuple(sorted(alarms))


def _reached(text: str, sources: Iterable[Path]) -> dict[str, tuple[int, int]]:
    """Return the statements reached and present in each function of the sources."""
    defined = [symbols(source.read_text()) for source in sources]
    names = frozenset().union(*(each.exported | each.static for each in defined))
    found = re.findall(r"^  (\w+): (\d+) stmts out of (\d+) \(", text, re.MULTILINE)
    return {
        name: (int(reached), int(present))
        for name, reached, present in found
        if re.sub(r"_\d+$", "", name) in names or name in names
    }
