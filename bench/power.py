"""python -m bench.power: two questions of Axtens' article about POWER, answered by predicted cycles.

Nothing is measured. The first table compares the article's loop with clang's loop of gfsmith's kernel,
instruction by instruction; the second compares a dot product with multiply-and-add as encoders. llvm-mca-19
predicts the cycles (gfsmith.explore.cost_model). The result is written into bench/results/power.md, between
its marks.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product, zip_longest

from bench.build import RESULTS
from bench.options import OneLineParser, start
from bench.predict import CACHE, Row, cycles_of, replace_between_marks, spec_of, version
from gfsmith.explore.cost_model import kernels
from gfsmith.explore.cost_model.compiled import loop_of
from gfsmith.explore.cost_model.loop import LABEL
from gfsmith.explore.cost_model.mca import predict_loop
from gfsmith.explore.cost_model.target import TARGETS, Target
from gfsmith.explore.cost_model.tools import COMPILER, MCA, ModelError
from gfsmith.kernel.architecture import Arch

PAGE = RESULTS / "power.md"
CPUS = ("pwr8", "pwr9", "pwr10")
TARGET = TARGETS[Arch.POWER]
#: The article's loop over 64 bytes, with vec_ld and vec_st as lvx and stvx. r3, r4: source and destination;
#: r7 to r9: 16, 32, 48; v0, v1: the tables.
ARTICLE = (
    *("lvx 2, 0, 3", "lvx 3, 3, 7", "lvx 4, 3, 8", "lvx 5, 3, 9"),
    *("vpermxor 2, 0, 1, 2", "vpermxor 3, 0, 1, 3", "vpermxor 4, 0, 1, 4", "vpermxor 5, 0, 1, 5"),
    *("stvx 2, 0, 4", "stvx 3, 4, 7", "stvx 4, 4, 8", "stvx 5, 4, 9"),
    *("addi 3, 3, 64", "addi 4, 4, 64", f"bdnz {LABEL}"),
)
KINDS = ("loads", "products", "stores", "addresses and the loop")
#: Set -> the cores that have it.
SETS = {"vsx": CPUS, "vsx_p10": CPUS[2:]}
SHAPES = ((4, 2), (10, 4), (12, 4))


@dataclass(frozen=True, slots=True)
class Written:
    """A loop in assembler text. instructions: of one iteration, which reads `source_bytes` bytes."""

    instructions: tuple[str, ...]
    source_bytes: int
    target: Target = TARGET

    @property
    def text(self) -> str:
        return "\n".join([f"{LABEL}:", *self.instructions, ""])

    @property
    def count(self) -> int:
        return len(self.instructions)

    def bytes_on(self, cpu: str) -> int:
        return self.source_bytes


def kind_of(instruction: str) -> str:
    """Return one of KINDS."""
    name = instruction.split()[0]
    if name in TARGET.loads:
        return KINDS[0]
    if name in TARGET.lookups:
        return KINDS[1]
    return KINDS[2] if name.startswith("st") else KINDS[3]


def clang_loop(isa: str) -> Written:
    """Return clang's loop of the product by one constant. Raises ModelError."""
    found = loop_of(spec_of(Row("mul", 1, 1), isa))
    return Written(tuple(line.at(LABEL) for line in found.lines), found.source_bytes)


def per_64(loop: Written, kind: str) -> float:
    """Return the number of instructions of a kind for 64 bytes of source."""
    return sum(kind_of(each) == kind for each in loop.instructions) * 64 / loop.source_bytes


def _first(loop: Written, kind: str) -> list[str]:
    """Return the instructions of a kind for the first 64 bytes; all that are not repeated for each vector."""
    mine = [each for each in loop.instructions if kind_of(each) == kind]
    return mine if kind == KINDS[3] else mine[:4]


def loops() -> Iterator[str]:
    """Yield the table of the loops' instructions and the table of their cycles."""
    found = {"article": Written(ARTICLE, 64), **{isa: clang_loop(isa) for isa in ("vsx", "vsx_p10")}}
    yield f"| | {' | '.join(found)} |"
    yield "|---|---|---|---|"
    for kind in KINDS:
        for cells in zip_longest(*(_first(loop, kind) for loop in found.values()), fillvalue=""):
            yield f"| {kind} | {' | '.join(f'`{each}`' if each else '' for each in cells)} |"
    yield ""
    yield f"| for 64 bytes | {' | '.join(found)} |"
    yield "|---|---:|---:|---:|"
    yield f"| bytes of an iteration | {' | '.join(str(loop.source_bytes) for loop in found.values())} |"
    for kind in KINDS:
        yield f"| {kind} | {' | '.join(f'{per_64(loop, kind):.2f}' for loop in found.values())} |"
    for cpu in CPUS:
        yield f"| cycles, {cpu} | {' | '.join(_cell(loop, cpu) for loop in found.values())} |"


def _cell(loop: Written, cpu: str) -> str:
    return _number(cycles_of(predict_loop(loop, cpu)))


def _number(cycles: float | str) -> str:
    return f"{cycles:.1f}" if isinstance(cycles, float) else "-"


def encoders(jobs: int) -> Iterator[str]:
    """Yield the table of encoders: all outputs of a source in one pass, as sums or as additions to them. The
    reasons for cells without figures follow."""
    missing: dict[str, None] = {}
    yield (
        "| set | core | shape | dot | multiply and add | ratio "
        "| destination bytes, dot | multiply and add |\n"
        "|---|---|---|---:|---:|---:|---:|---:|"
    )
    for isa, cpus in SETS.items():
        rows = [(Row("dot", k, r), Row("mad", 1, r)) for k, r in SHAPES]
        wanted = {row: spec_of(row, isa) for pair in rows for row in pair}
        found = kernels.predict_all(list(dict.fromkeys(wanted.values())), cpus, jobs, CACHE)
        for cpu, ((k, r), pair) in product(cpus, zip(SHAPES, rows, strict=True)):
            cycles = [cycles_of(found[wanted[row]][cpu]) for row in pair]
            for row, each in zip(pair, cycles, strict=True):
                if isinstance(each, str):
                    missing[f"{row.name}, {isa}, {cpu}: {' '.join(each.split()[:5])}"] = None
            cells = " | ".join(map(_number, cycles))
            yield f"| {isa} | {cpu} | {k}+{r} | {cells} | {_ratio(*cycles)} | {_traffic(k, r)} |"
    yield from (f"\nNo figure for {reason}." for reason in missing)


def _ratio(dot: float | str, mad: float | str) -> str:
    return "-" if isinstance(dot, str) or isinstance(mad, str) else f"{mad / dot:.2f}"


def _traffic(sources: int, outputs: int) -> str:
    """Return the bytes of destinations that a dot product writes, and that multiply-and-add reads and writes,
    for 64 bytes of source."""
    return f"{64 * outputs / sources:.1f} | {2 * 64 * outputs}"


def page(jobs: int) -> str:
    """Return all tables. Raises ModelError."""
    made = f"Made by {version(COMPILER)} and {version(MCA)}.\n"
    return "\n".join([made, "## The loops\n", *loops(), "", "## The encoders\n", *encoders(jobs), ""])


def main(arguments: Sequence[str] | None = None) -> int:
    OneLineParser(prog="bench.power", description=__doc__.splitlines()[0]).parse_args(arguments)
    try:
        made = page(os.cpu_count() or 1)
    except ModelError as error:
        print(f"bench.power: {error}", file=sys.stderr)
        return 1
    replace_between_marks(PAGE, made)
    return 0


if __name__ == "__main__":
    start(main)
