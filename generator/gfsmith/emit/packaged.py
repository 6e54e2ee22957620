"""Kernels as the packages of other languages see them: lists of proved kernels and their known matrices.

`golang.py` and `rust.py` write them as text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from gfsmith.kernel.architecture import Arch
from gfsmith.kernel.isa import ISAS, Isa
from gfsmith.kernel.spec import POLYNOMIAL, KernelSpec, Operation, SpecError, Store, TableFormat

_OPERATIONS = {Operation.DOT: "Dot", Operation.MAD: "Mad", Operation.XOR: "Xor"}
_TABLES = {TableFormat.NONE: "None", TableFormat.NIBBLE: "Nibble", TableFormat.AFFINE: "Affine"}

Proved = tuple[KernelSpec, bytes]  #: a kernel and its machine code
_COMPILED = "neon"  #: the set that packages take as compiled C: every 64-bit Arm CPU of Go and Rust has it
_Shape = tuple[str, int, int]  #: code, data shards, parities


@dataclass(frozen=True, slots=True)
class Matrix:
    """The m x k parity matrix of a code, a known matrix of kernels."""

    code: str
    k: int
    m: int
    rows: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """A kernel of a package. isa, matrix: numbers in the package's lists, matrix -1 for none. first: the row
    of the matrix with which the kernel begins.
    """

    spec: KernelSpec
    code: bytes
    isa: int
    matrix: int
    first: int

    @property
    def operation(self) -> str:
        return _OPERATIONS[self.spec.operation]

    @property
    def tables(self) -> str:
        return _TABLES[self.spec.tables]

    @property
    def streaming(self) -> bool:
        return self.spec.store is Store.STREAMING

    @property
    def size(self) -> int:
        return len(self.code)

    @property
    def digest(self) -> str:
        """The bytes of the code's SHA-256 as a list."""
        return ", ".join(map(str, hashlib.sha256(self.code).digest()))


def takes(spec: KernelSpec) -> bool:
    """Return True if a package can use the kernel: x86-64 or neon, the field and tables of the package,
    no prefetching; with streaming stores, only a fixed number of sources."""
    if spec.isa.arch is not Arch.X86_64 and spec.isa.name != _COMPILED:
        return False
    if spec.field.polynomial != POLYNOMIAL or spec.tables not in _TABLES:
        return False
    if spec.prefetch or spec.pipelined:
        return False
    if spec.store is Store.STREAMING and (spec.operation is not Operation.DOT or spec.inputs is None):
        return False
    if spec.baked is not None and spec.baked.packets:
        return False
    if spec.operation is Operation.XOR:
        return spec.inputs == 2
    return spec.operation in _OPERATIONS


def check(specs: Sequence[KernelSpec], form: str) -> None:
    """Raises SpecError unless every set has kernels to encode and update any shape."""
    if not specs:
        raise SpecError(
            f"form {form}: no kernel for x86-64 or neon that the package can use; "
            "use the C library for others"
        )
    for isa in isas(specs):
        plain = (
            s
            for s in specs
            if s.isa.name == isa.name and s.baked is None and s.outputs == 1 and s.store is Store.TEMPORAL
        )
        have = {(s.operation, s.inputs) for s in plain}
        if (Operation.DOT, None) not in have:
            raise SpecError(
                f"form {form}: {isa.name} needs a kernel dot nx1, for shapes without another kernel"
            )
        if not {(Operation.MAD, None), (Operation.MAD, 1)} & have:
            raise SpecError(f"form {form}: {isa.name} needs a kernel mad 1x1 or nx1, which updates parities")


def isas(specs: Sequence[KernelSpec]) -> list[Isa]:
    """Return the sets of the kernels, best first."""
    present = {spec.isa.name for spec in specs}
    return [isa for isa in ISAS if isa.name in present]


def matrices(specs: Sequence[KernelSpec]) -> list[Matrix]:
    """Return each known matrix once, if the kernels together cover all of its rows."""
    parts: dict[_Shape, dict[int, tuple[int, ...]]] = {}
    for spec in specs:
        if spec.baked is not None:
            rows = parts.setdefault(_shape(spec), {})
            rows.update(enumerate(spec.baked.rows, start=spec.baked.first))
    return [
        Matrix(code, k, m, tuple(rows[i] for i in range(m)))
        for (code, k, m), rows in parts.items()
        if len(rows) == m
    ]


def entries(kernels: Sequence[Proved], arch: Arch) -> list[Entry]:
    """Return the kernels for an architecture, set by set. All kernels must satisfy `takes`.

    A kernel for some rows of a matrix is left out if the other rows have no kernel.
    """
    specs = [spec for spec, _ in kernels]
    sets = [isa.name for isa in isas(specs) if isa.arch is arch]
    shapes = [(m.code, m.k, m.m) for m in matrices(specs)]
    found = [
        _entry(spec, code, sets, shapes)
        for spec, code in kernels
        if spec.isa.name in sets and (spec.baked is None or _shape(spec) in shapes)
    ]
    return sorted(found, key=lambda entry: entry.isa)


def _shape(spec: KernelSpec) -> _Shape:
    assert spec.baked is not None and spec.inputs is not None
    return spec.baked.code, spec.inputs, spec.baked.parities


def _entry(spec: KernelSpec, code: bytes, sets: Sequence[str], shapes: Sequence[_Shape]) -> Entry:
    """sets has names, since a kernel may have another width of vectors than its set."""
    number, first = -1, 0
    if spec.baked is not None:
        number, first = shapes.index(_shape(spec)), spec.baked.first
    return Entry(spec, code, sets.index(spec.isa.name), number, first)
