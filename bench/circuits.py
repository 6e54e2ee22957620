"""python -m bench.circuits: operations and port bounds of the kernels for known matrices.

Nothing is measured. For each shape the generator chooses a circuit as `make gen` does; its Program is
counted, and so is that of the dense product with tables. The bound is the number of cycles in which the
execution ports of a CPU can execute the operations of one vector of every source: for each set of ports, the
operations that only these ports execute, divided by the number of ports. The result is written into
bench/results/circuits.md, between the marks of each code.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from bench.build import RESULTS
from bench.options import OneLineParser, start
from bench.predict import replace_between_marks
from gfsmith import codes
from gfsmith.build import generate, parallel
from gfsmith.ir import STORES, Op, Program
from gfsmith.kernel.isa import BY_NAME
from gfsmith.kernel.spec import Baked, KernelSpec, Operation, default_technique

PAGE = RESULTS / "circuits.md"
CODES = ("cauchy", "backblaze", "lch", "vandermonde")
GOOD = 1.5  #: dense bound over the kernel's from which a circuit is good
SHAPES = tuple((k, 4) for k in range(2, 49)) + tuple((k, 8) for k in range(2, 65))


@dataclass(frozen=True, slots=True)
class Cpu:
    """Ports of a CPU for one instruction set, from uops.info and measurements.

    ports: operation -> names of ports, one letter each. load, store: slots that a vector takes; a CPU
    executes `loads` slots of loads and one of stores per cycle. A broadcast constant takes one slot.
    """

    name: str
    isa: str
    ports: Mapping[str, str]
    load: int = 1
    loads: int = 2
    store: int = 1


#: Zen 4 executes 512 bits in two passes: two vectors per cycle, one of them a product or a shuffle.
CPUS = (
    Cpu("Zen 4", "gfni_avx512", {"affine": "a", "logic": "ab"}, load=2, store=2),
    Cpu("Zen 5", "gfni_avx512", {"affine": "ab", "logic": "abcd"}),
    Cpu("Sapphire Rapids", "gfni_avx512", {"affine": "a", "logic": "ab"}),
    Cpu("Haswell", "avx2", {"shuffle": "c", "shift": "a", "logic": "abc"}),
    Cpu("Zen 3", "avx2", {"shuffle": "bc", "shift": "bc", "logic": "abcd"}),
)

#: Operation of a Program -> operations of a CPU.
_KINDS = {
    Op.AFFINE: ("affine",),
    Op.XOR: ("logic",),
    Op.XOR3: ("logic",),
    Op.AND: ("logic",),
    Op.LOOKUP: ("shuffle",),
    Op.HIGH_NIBBLE: ("shift", "logic"),
}


@dataclass(frozen=True, slots=True)
class Count:
    """Operations for one vector of every source: kind -> number; vectors and constants loaded, vectors
    stored."""

    kinds: tuple[tuple[str, int], ...]
    vectors: int
    constants: int
    stores: int

    @property
    def operations(self) -> int:
        return sum(number for _, number in self.kinds)

    def of(self, kind: str) -> int:
        return dict(self.kinds).get(kind, 0)


def counted(program: Program) -> Count:
    """Return the operations of the main loop."""
    code = [instr for loop in program.iterations()[0] for instr in loop.head]
    kinds = Counter(kind for instr in code for kind in _KINDS.get(instr.op, ()))
    stores = sum(i.op in STORES or i.op is Op.SPILL for i in code)
    constants = sum(i.op in (Op.TABLE, Op.MATRIX) or (i.op is Op.AFFINE and i.ref is not None) for i in code)
    read = sum(i.ref is not None for i in code) - stores - constants
    return Count(tuple(sorted(kinds.items())), read, constants, stores)


def bound(cpu: Cpu, count: Count) -> float:
    """Return the least cycles in which the ports execute these operations."""
    cycles = [
        (cpu.load * count.vectors + count.constants) / cpu.loads,
        float(cpu.store * count.stores),
    ]
    every = sorted(set("".join(cpu.ports.values())))
    for size in range(1, len(every) + 1):
        for chosen in combinations(every, size):
            only = sum(n for kind, n in count.kinds if set(cpu.ports[kind]) <= set(chosen))
            cycles.append(only / size)
    return max(cycles)


@dataclass(frozen=True, slots=True)
class Row:
    code: str
    k: int
    m: int
    isa: str


@dataclass(frozen=True, slots=True)
class Result:
    """The circuit, its operations, and those of the dense product; each product has its own constant."""

    label: str
    own: Count
    dense: Count


def _spec(row: Row) -> KernelSpec:
    isa = BY_NAME[row.isa]
    rows = codes.parity_matrix(row.code, row.k, row.m)
    return KernelSpec(
        operation=Operation.DOT,
        isa=isa,
        inputs=row.k,
        outputs=row.m,
        technique=default_technique(Operation.DOT, isa),
        baked=Baked(row.code, row.m, 0, rows),
    )


def result(row: Row) -> Result:
    """Return the counts of a shape. Raises CodeError for one that is not MDS."""
    spec = _spec(row)
    candidate, program = generate.choose(spec)
    dense = generate.program(replace(spec, baked=None))
    return Result(candidate.label, counted(program), counted(dense))


def _results(rows: tuple[Row, ...]) -> list[Result]:
    """Return the results of one matrix, whose search serves all sets; none if it is not MDS."""
    try:
        return [result(row) for row in rows]
    except codes.CodeError:
        return []


def _cells(row: Row, found: Result) -> Iterator[str]:
    """Yield the operations per vector of one source, and the bounds with their ratio to the dense product."""
    own = found.own
    products = own.of("affine") + own.of("shuffle") // 2
    yield f"{products}"
    yield f"{own.operations / row.k:.2f}"
    yield f"{(own.vectors + own.constants) / row.k:.2f}"
    for cpu in CPUS:
        if cpu.isa == row.isa:
            cycles = bound(cpu, own)
            yield f"{cycles:.1f} ({bound(cpu, found.dense) / cycles:.2f})"


def _is_good(row: Row, found: Result) -> bool:
    cpus = [cpu for cpu in CPUS if cpu.isa == row.isa]
    return all(bound(cpu, found.dense) >= GOOD * bound(cpu, found.own) for cpu in cpus)


def _ranges(numbers: Sequence[int]) -> str:
    """Return sorted numbers as text, at least three successive ones as a range."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts = [f"{r[0]} to {r[-1]}" if len(r) > 2 else ", ".join(map(str, r)) for r in runs]
    return ", ".join(parts) or "none"


def page(found: Mapping[Row, Result]) -> str:
    """Return a summary of the shapes with a good circuit, and a table for each number of parities and set."""
    lines = [
        "| code | set | parities | k with a good circuit |",
        "|---|---|---:|---|",
    ]
    groups = dict.fromkeys((row.code, row.isa, row.m) for row in found)
    for code, isa, m in groups:
        good = [
            r.k for r, each in found.items() if (r.code, r.isa, r.m) == (code, isa, m) and _is_good(r, each)
        ]
        lines.append(f"| `{code}` | `{isa}` | {m} | {_ranges(good)} |")
    for code, isa, m in groups:
        names = " | ".join(cpu.name for cpu in CPUS if cpu.isa == isa)
        rule = "---:|" * (4 + sum(cpu.isa == isa for cpu in CPUS))
        lines += ["", f"## {code}, {m} parities, {isa}", ""]
        lines += [f"| k | circuit | products | operations | loads | {names} |", f"|---:|---|{rule[:-5]}"]
        for row, each in found.items():
            if (row.code, row.isa, row.m) == (code, isa, m):
                lines.append(f"| {row.k} | {each.label} | {' | '.join(_cells(row, each))} |")
    return "\n".join(lines) + "\n"


def _found(tasks: Sequence[tuple[Row, ...]]) -> dict[Row, Result]:
    """Return the results in the order of the rows, computed on all cores."""
    found: dict[Row, Result] = {}

    def enter(number: int, results: list[Result]) -> None:
        found.update(zip(tasks[number], results, strict=bool(results)))

    parallel.run(_results, tasks, os.cpu_count() or 1, enter)
    return {row: found[row] for task in tasks for row in task if row in found}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = OneLineParser(prog="bench.circuits", description=__doc__.splitlines()[0])
    parser.add_argument("--codes", default=",".join(CODES), help=f"names with commas ({','.join(CODES)})")
    parser.add_argument("--step", type=int, default=1, help="only k that are multiples of this number (1)")
    parser.add_argument(
        "--print", action="store_true", help="to standard output instead of bench/results/circuits.md"
    )
    options = parser.parse_args(arguments)
    sets = list(dict.fromkeys(cpu.isa for cpu in CPUS))
    shapes = [(k, m) for k, m in SHAPES if k % options.step == 0]
    for code in options.codes.split(","):
        tasks = [tuple(Row(code, k, m, isa) for isa in sets) for k, m in shapes]
        made = page(_found(tasks))
        if options.print:
            print(made)
        else:
            replace_between_marks(PAGE, made, code)
    return 0


if __name__ == "__main__":
    start(main)
