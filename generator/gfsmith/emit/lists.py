"""Files that the C runtime includes: lists of kernels and instruction sets, prototypes, build lists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gfsmith.emit.c.kernel import SPELLINGS
from gfsmith.emit.kernel_files import build_source, condition, guard, source_path
from gfsmith.emit.template import render
from gfsmith.kernel import limits
from gfsmith.kernel.isa import ISAS, Isa
from gfsmith.kernel.microarch import MICROARCHS, Microarch
from gfsmith.kernel.spec import KernelSpec, Operation, default_technique
from gfsmith.kernel.technique import FORMAT


@dataclass(frozen=True, slots=True)
class _IsaKernels:
    """One instruction set of a build, ready for the templates.

    guard, condition: a build contains the set if the compiler's target is `arch` (guard) and
    GFSMITH_SINGLE_ISA is undefined or equal to `name` (condition). specs: kernels with run-time coefficients.
    pipelined: those whose src array is different; no other list contains them. kernels: paths of
    all kernels. source: path of the file that build systems compile, which includes them.
    """

    name: str
    arch: str
    guard: str
    condition: str
    tables: str
    features: str
    specs: tuple[KernelSpec, ...]
    pipelined: tuple[KernelSpec, ...]
    baked: tuple[KernelSpec, ...]
    kernels: tuple[str, ...]
    source: str


@dataclass(frozen=True, slots=True)
class _Matrix:
    """One known matrix of a build."""

    id: str
    polynomial: int
    rows: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class TunedKernel:
    """A kernel that dispatch prefers on a microarchitecture for one path of calls (path.h).

    added: the build has the kernel only for this purpose, so dispatch must not choose it otherwise.
    """

    cpu: Microarch
    path: str
    spec: KernelSpec
    added: bool

    @property
    def condition(self) -> str:
        return condition(self.spec.isa)


def _isa(isa: Isa, specs: Sequence[KernelSpec]) -> _IsaKernels:
    mine = [s for s in specs if s.isa.name == isa.name]
    return _IsaKernels(
        name=isa.name,
        arch=isa.arch.value,
        guard=guard(isa),
        condition=condition(isa),
        tables=FORMAT[default_technique(Operation.DOT, isa)].label,
        features=" | ".join(f"GFSMITH_CPU_{flag}" for flag in isa.cpu_flags) or "0",
        specs=tuple(s for s in mine if s.baked is None and not s.pipelined),
        pipelined=tuple(s for s in mine if s.pipelined),
        baked=tuple(s for s in mine if s.baked is not None and not s.pipelined),
        kernels=tuple(map(source_path, mine)),
        source=build_source(mine[0]),
    )


def _matrices(specs: Sequence[KernelSpec]) -> list[_Matrix]:
    """Return every known matrix once, by number of inputs: a search for one of a shape then reads few."""
    found = {
        s.matrix_id: _Matrix(s.matrix_id, s.field.polynomial, s.baked.rows)
        for s in specs
        if s.baked is not None
    }
    return sorted(found.values(), key=lambda matrix: len(matrix.rows[0]))


def has_coordinator(specs: Iterable[KernelSpec]) -> bool:
    """Return True if the runtime gets its coordinator (docs/adaptive.md): the pipelined kernels of the build
    visit lines in several orders, among which it chooses. Batch calls need the order of one line only."""
    return any(spec.pipelined and spec.lines > 1 for spec in specs)


def build(specs: Sequence[KernelSpec], tuned: Sequence[TunedKernel] = ()) -> dict[str, str]:
    """Return path -> text of every file that describes the whole build. specs: including the tuned ones."""
    present = {spec.isa.name for spec in specs}
    isas = [_isa(isa, specs) for isa in ISAS if isa.name in present]
    coordinator = has_coordinator(specs)
    orders = {s.lines: s.visited() for s in specs if s.pipelined and s.shuffled}
    cpus = [(cpu, limits.of(cpu)) for cpu in MICROARCHS]
    files = {
        "pipelined.inc": render("pipelined.inc.j2", isas=isas, orders=dict(sorted(orders.items()))),
        "kernels.inc": render("kernels.inc.j2", isas=isas),
        "baked.inc": render("baked.inc.j2", isas=isas),
        "matrices.inc": render("matrices.inc.j2", matrices=_matrices(specs)),
        "tuned.inc": render("tuned.inc.j2", cpus=cpus, generic=limits.GENERIC, rows=tuned),
        "isas.inc": render("isas.inc.j2", isas=isas),
        "gfsmith_isas.h": render("gfsmith_isas.h.j2", isas=isas),
        "gfsmith_kernels.h": render("gfsmith_kernels.h.j2", isas=isas),
        "sources.mk": render("sources.mk.j2", isas=isas, coordinator=coordinator),
        "sources.cmake": render("sources.cmake.j2", isas=isas, coordinator=coordinator),
    }
    for name in sorted({s.isa.name for s in specs if not s.machine_code}):
        files |= {header: render(f"{header}.j2") for header in SPELLINGS[name].headers}
    if any(not s.machine_code and (s.prefetch or s.pipelined) for s in specs):
        files["gfsmith_prefetch.h"] = render("gfsmith_prefetch.h.j2")
    if any(spec.machine_code for spec in specs):
        files["gfsmith_asm.h"] = render("gfsmith_asm.h.j2")
    files |= {isa.source: render("set_source.j2", isa=isa) for isa in isas}
    return files
