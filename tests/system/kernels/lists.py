"""The lists of gen_out, read by Python: kernels, adaptive, baked and matrices.inc, and sources.mk."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gfsmith.kernel.isa import ISAS

#: The fields of an entry of kernels.inc, in order.
KERNEL = tuple("symbol isa operation inputs outputs unroll store prefetch tables".split())  # noqa: SIM905
BAKED = tuple("symbol isa matrix store prefetch".split())  # noqa: SIM905
ADAPTIVE = tuple("symbol isa inputs outputs matrix walk shuffled lines store tables".split())  # noqa: SIM905


#: Instruction set -> architecture.
ARCHS = {isa.name: isa.arch.value for isa in ISAS}

#: For the harness, as a C definition: bytes of a vector of each set with a fixed vector length.
WIDTHS = "-DHARNESS_WIDTHS=" + ",".join(
    f'{{"{isa.name}",{isa.vector_bytes}}}' for isa in ISAS if not isa.scalable
)


@dataclass(frozen=True, slots=True)
class Matrix:
    """One entry of matrices.inc: a matrix that kernels know."""

    id: str
    polynomial: int
    rows: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Kernel:
    """One line of kernels.inc or pipelined.inc, or of baked.inc with its matrix."""

    symbol: str
    isa: str
    operation: str
    inputs: int
    outputs: int
    tables: str
    unroll: int = 0  #: vectors per iteration; 0: the symbol states it
    matrix: Matrix | None = None

    @property
    def in_assembly(self) -> bool:
        return ARCHS[self.isa] == "x86_64"

    @property
    def runs_here(self) -> bool:
        """Return True if the kernel is for x86-64 or portable; the others are emulated."""
        return ARCHS[self.isa] in ("x86_64", "portable")


def entries(text: str, macro: str) -> list[list[str]]:
    """Return the arguments of every call of a macro, in order."""
    calls = re.findall(rf"^\s*{macro}\(([^()]*)\)", text, re.MULTILINE)
    return [[argument.strip() for argument in call.split(",")] for call in calls]


def parse_kernels(text: str) -> list[Kernel]:
    """Return the kernels of a file in the form of kernels.inc."""
    kernels = []
    for line in entries(text, "GFSMITH_KERNEL"):
        field = dict(zip(KERNEL, line, strict=True))
        kernels.append(
            Kernel(
                symbol=field["symbol"],
                isa=field["isa"],
                operation=field["operation"],
                inputs=int(field["inputs"]),
                outputs=int(field["outputs"]),
                tables=field["tables"],
                unroll=int(field["unroll"]),
            )
        )
    return kernels


def parse_matrices(text: str) -> dict[str, Matrix]:
    """Return the matrices of a file in the form of matrices.inc, by id."""
    matrices = {}
    for name, polynomial, *numbers in entries(text, "GFSMITH_MATRIX"):
        outputs, inputs, *elements = map(int, numbers)
        if len(elements) != outputs * inputs:
            raise ValueError(f"{name}: {len(elements)} elements are not {outputs} x {inputs}")
        if name in matrices:
            raise ValueError(f"{name} occurs twice")
        rows = tuple(tuple(elements[i * inputs : (i + 1) * inputs]) for i in range(outputs))
        matrices[name] = Matrix(name, int(polynomial, 0), rows)
    return matrices


def parse_baked(text: str, matrices: dict[str, Matrix]) -> list[Kernel]:
    """Return the kernels of a file in the form of baked.inc."""
    kernels = []
    for line in entries(text, "GFSMITH_BAKED"):
        field = dict(zip(BAKED, line, strict=True))
        matrix = matrices[field["matrix"]]
        kernels.append(
            Kernel(
                symbol=field["symbol"],
                isa=field["isa"],
                operation="dot",
                inputs=len(matrix.rows[0]),
                outputs=len(matrix.rows),
                tables="none",
                matrix=matrix,
            )
        )
    return kernels


def parse_pipelined(text: str, matrices: dict[str, Matrix]) -> list[Kernel]:
    """Return the kernels of a file in the form of pipelined.inc."""
    fields = (dict(zip(ADAPTIVE, line, strict=True)) for line in entries(text, "GFSMITH_PIPELINED"))
    return [
        Kernel(
            symbol=f["symbol"],
            isa=f["isa"],
            operation="dot",
            inputs=int(f["inputs"]),
            outputs=int(f["outputs"]),
            tables=f["tables"],
            matrix=None if f["matrix"] == "none" else matrices[f["matrix"]],
        )
        for f in fields
    ]


def kernels_of(folder: Path) -> list[Kernel]:
    """Return the kernels of a folder like gen_out that this machine can run; none without a list."""
    return [kernel for kernel in all_kernels_of(folder) if kernel.runs_here]


def all_kernels_of(folder: Path) -> list[Kernel]:
    """Return the kernels of a folder like gen_out for every architecture."""
    if not (folder / "kernels.inc").exists():
        return []
    names = ("kernels.inc", "matrices.inc", "baked.inc", "pipelined.inc")
    return list(_parsed(*((folder / name).read_text() for name in names)))


@cache
def _parsed(kernels: str, matrices: str, baked: str, pipelined: str) -> tuple[Kernel, ...]:
    known = parse_matrices(matrices)
    return (*parse_kernels(kernels), *parse_baked(baked, known), *parse_pipelined(pipelined, known))
