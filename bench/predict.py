"""python -m bench.predict: predicted cycles of gfsmith's kernels and their peers' on CPUs that are not
available.

Nothing is measured: clang-19 -O2 compiles both sides, their main loops are found by control flow, and
llvm-mca-19 predicts them (gfsmith.explore.cost_model). The result is written into bench/results/predicted.md,
between its marks.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.build import RESULTS, ROOT, BuildError
from bench.options import OneLineParser, start
from bench.other_architectures import PEERS, Peer
from gfsmith.build.config import parse, specs
from gfsmith.explore.cost_model import features, kernels
from gfsmith.explore.cost_model.mca import Outcome, Prediction, predict_loop
from gfsmith.explore.cost_model.target import TARGETS
from gfsmith.explore.cost_model.tools import COMPILER, MCA, ModelError, run
from gfsmith.kernel.architecture import Arch
from gfsmith.kernel.isa import ISAS
from gfsmith.kernel.spec import KernelSpec

PAGE = RESULTS / "predicted.md"
PREDICTED = "predicted"  #: the name of the marks of most pages
CACHE = ROOT / ".gfsmith-cache" / "mca.json"
_SLOWER = "altivec"  #: all cores with a model have a better set
ANY = 10  #: sources for kernels that take any number


@dataclass(frozen=True, slots=True)
class Row:
    """One computation. code: the known matrix of gfsmith's kernel; the peer has it in tables."""

    operation: str
    inputs: int | None
    outputs: int
    code: str | None = None

    @property
    def name(self) -> str:
        shape = f"{self.inputs or 'n'}x{self.outputs}"
        return f"{self.code} {shape}" if self.code else f"{self.operation} {shape}"

    @property
    def toml(self) -> str:
        code = f'code = "{self.code}"\n' if self.code else ""
        shape = f"{self.inputs or 'n'}x{self.outputs}"
        return f'[[kernels]]\noperation = "{self.operation}"\n{code}shapes = ["{shape}"]\n'


ROWS = (
    Row("dot", 4, 2),
    Row("dot", 10, 4),
    Row("dot", 12, 4),
    Row("dot", None, 4),
    Row("mad", 1, 4),
    Row("dot", 10, 4, "cauchy"),
    Row("dot", 10, 4, "vandermonde"),
)


def spec_of(row: Row, isa: str) -> KernelSpec:
    """Return gfsmith's kernel with the default schedule. Raises ConfigError."""
    text = f'[generator]\nisas = ["{isa}"]\n{row.toml}'
    return specs(parse(text, "predict"), "predict")[0]


def cycles_of(outcome: Outcome) -> float | str:
    return outcome.cycles_per_64 if isinstance(outcome, Prediction) else outcome.reason


def _ours(arch: Arch, cpus: Sequence[str], jobs: int) -> dict[tuple[str, str, str], float | str]:
    """Return (row, set, core) -> cycles per 64 bytes of source, or the reason why there are none."""
    sets = [isa.name for isa in ISAS if isa.arch is arch and isa.name != _SLOWER]
    wanted = {(row.name, isa): spec_of(row, isa) for isa in sets for row in ROWS}
    found = kernels.predict_all(list(wanted.values()), cpus, jobs, CACHE)
    return {(*at, cpu): cycles_of(found[spec][cpu]) for at, spec in wanted.items() for cpu in cpus}


def _theirs(peer: Peer, row: Row, cpu: str) -> float | str | None:
    """Return the cycles of a peer, or the reason for none; None if it has no kernel for the shape."""
    if missing := features.lacking(cpu, peer.flags):
        return f"has no {', '.join(missing)}"
    total = 0.0
    parts = peer.loops(row.operation, row.inputs or ANY, row.outputs)
    for weight, loop in parts:
        outcome = predict_loop(loop, cpu)
        if not isinstance(outcome, Prediction):
            return outcome.reason
        total += weight * outcome.cycles_per_64
    return total if parts else None


Figures = Mapping[tuple[str, str], float | str | None]  #: (row, column) -> cycles, or the reason for none


def _figures(arch: Arch, cpu: str, ours: Mapping[tuple[str, str, str], float | str]) -> Figures:
    found: dict[tuple[str, str], float | str | None] = {}
    for (row, isa, core), cycles in ours.items():
        if core == cpu:
            found[row, isa] = cycles
    for peer in PEERS:
        if peer.arch is arch:
            found |= {(row.name, peer.name): _theirs(peer, row, cpu) for row in ROWS}
    return found


def _fewest(figures: Figures, row: str, columns: Sequence[str]) -> tuple[float, str] | None:
    known = [(cycles, c) for c in columns if isinstance(cycles := figures.get((row, c)), float)]
    return min(known, default=None)


def _table(figures: Figures) -> Iterator[str]:
    """Yield a table with one row per computation; sets without figures for a core are named below."""
    columns = list(dict.fromkeys(column for _, column in figures))
    present = [c for c in columns if any(isinstance(figures[row.name, c], float) for row in ROWS)]
    theirs = [peer.name for peer in PEERS if peer.name in present]
    ours = [c for c in present if c not in theirs]
    yield f"| | {' | '.join([*ours, *theirs])} | best peer / best of ours |"
    yield "|---|" + "---:|" * (len(present) + 1)
    for row in ROWS:
        cells = [_cell(figures[row.name, c]) for c in [*ours, *theirs]]
        mine, peer = _fewest(figures, row.name, ours), _fewest(figures, row.name, theirs)
        ratio = f"{peer[0] / mine[0]:.2f}" if mine and peer else ""
        yield f"| {row.name} | {' | '.join(cells)} | {ratio} |"
    absent: dict[str, str] = {}
    for column in columns:
        reasons = {why for row in ROWS if isinstance(why := figures[row.name, column], str)}
        if column not in present and reasons:
            absent[column] = min(reasons)
    for column, why in absent.items():
        yield f"\nNot {column}: {why}."


def _cell(cycles: float | str | None) -> str:
    return f"{cycles:.1f}" if isinstance(cycles, float) else "-"


def _arithmetic(arch: Arch) -> Iterator[str]:
    """Yield the executed instructions and bytes of a peer, so that the division can be checked."""
    yield "| peer | row | for each source | instructions | lookups | bytes of source |"
    yield "|---|---|---:|---:|---:|---:|"
    for peer in PEERS:
        if peer.arch is not arch:
            continue
        for row in ROWS[:5]:
            for weight, loop in peer.loops(row.operation, row.inputs or ANY, row.outputs):
                lookups = sum(line.name in loop.target.lookups for line in loop.lines)
                lanes = " at 16 bytes a vector" if loop.scalable else ""
                yield (
                    f"| {peer.name} | {row.name} | {weight:g} | {loop.count} | {lookups} | "
                    f"{loop.source_bytes}{lanes} |"
                )


def page(jobs: int) -> str:
    """Return all tables. Raises ModelError, BuildError."""
    lines = [f"Made by {version(COMPILER)} and {version(MCA)}.\n"]
    for arch in (Arch.AARCH64, Arch.POWER, Arch.RISCV, Arch.S390X):
        target = TARGETS[arch]
        if not any(isa.arch is arch for isa in ISAS):
            continue
        ours = _ours(arch, target.cpus, jobs)
        for cpu in target.cpus:
            model = f" (LLVM takes its model of {target.models[cpu]})" if cpu in target.models else ""
            vectors = target.vector_bytes.get(cpu)
            length = f", scalable vectors of {vectors} bytes" if vectors else ""
            lines += [f"### {cpu}{model}{length}\n", *_table(_figures(arch, cpu, ours)), ""]
        if any(peer.arch is arch for peer in PEERS):
            lines += [f"### Bytes read by the peers' loops on {arch.value}\n", *_arithmetic(arch), ""]
    return "\n".join(lines)


def version(tool: str) -> str:
    found = re.search(r"version (\d[\d.]*)", run(tool, ["--version"]).stdout)
    return f"{tool} {found[1] if found else ''}".strip()


def replace_between_marks(page: Path, made: str, name: str = PREDICTED) -> None:
    """Replace the text between the marks of this name in a page."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, rest = page.read_text(encoding="utf-8").split(begin)
    fresh = page.with_suffix(".new")
    fresh.write_text(f"{before}{begin}\n{made}{end}{rest.split(end)[1]}", encoding="utf-8")
    fresh.replace(page)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = OneLineParser(prog="bench.predict", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--print", action="store_true", help="to standard output instead of bench/results/predicted.md"
    )
    options = parser.parse_args(arguments)
    try:
        made = page(os.cpu_count() or 1)
    except (ModelError, BuildError) as error:
        print(f"bench.predict: {error}", file=sys.stderr)
        return 1
    if options.print:
        print(made)
        return 0
    replace_between_marks(PAGE, made)
    return 0


if __name__ == "__main__":
    start(main)
