"""The explanation of one kernel, as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gfsmith.build import generate, prove_kernels
from gfsmith.build.generate import Kernel
from gfsmith.build.prove_kernels import Certificate
from gfsmith.emit.x86.asm import Data, Ins, Mark, Mem, Note, Reg, narrow
from gfsmith.emit.x86.encode import Encoded
from gfsmith.emit.x86.listing import build
from gfsmith.explore.cost_model import compiled, kernels
from gfsmith.explore.cost_model.compiled import CompiledLoop
from gfsmith.explore.cost_model.loop import MainLoop, main_loop, repeated
from gfsmith.explore.cost_model.mca import Outcome
from gfsmith.explore.cost_model.target import check_cpus, target_of
from gfsmith.explore.cost_model.tools import ToolMissing, Unavailable
from gfsmith.explore.explain import program as words
from gfsmith.ir import Program
from gfsmith.kernel.spec import KernelSpec

_AROUND = "(loop)"  #: instructions that belong to no operation of the Program
_GENERAL = ("rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", *(f"r{n}" for n in range(8, 16)))
_FULL = {narrow(name, width): name for name in _GENERAL for width in (1, 2, 4)}


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the listing. program: the line of the Program that begins here; main: in the main loop."""

    offset: int
    code: bytes
    text: str
    program: str
    main: bool


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of the main loop: its number in the Program, and its instructions."""

    name: str
    program: int
    instructions: dict[str, int]


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine code of a kernel. rows: its body, which is the same for both ABIs."""

    rows: tuple[Row, ...]
    loop: MainLoop
    operations: tuple[Operation, ...]
    vectors: tuple[str, ...]
    general: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """certificates: the proofs of the machine code, one for each ABI; none for C. machine: None for C.
    compiled: the main loop of the compiled C, if it was found. predictions: in the order of the request;
    without any, `silence` gives the reason."""

    spec: KernelSpec
    program: Program
    kernel: Kernel
    certificates: tuple[Certificate, ...]
    machine: Machine | None
    compiled: CompiledLoop | None
    predictions: tuple[Outcome, ...]
    silence: str


def rows(body: Sequence[Encoded], loop: MainLoop) -> tuple[Row, ...]:
    """Return the listing next to the Program: each line of the Program stands where its instructions
    begin."""
    found = []
    previous = None
    for number, item in enumerate(body):
        match item.line:
            case Ins(origin=origin):
                begins = origin is not None and origin is not previous
                said = words.line(origin) if begins and origin is not None else ""
                inside = loop.first <= number <= loop.last
                found.append(Row(item.offset, item.code, str(item.line), said, inside))
                previous = origin
            case Mark(label):
                found.append(Row(item.offset + len(item.code), b"", f"{label}:", "", False))
            case Data(content, text):
                found.append(Row(item.offset, content, f"constant {text}", "", False))
            case Note(text):
                found.append(Row(item.offset, b"", f"# {text}", "", False))
    return tuple(found)


def operations(program: Program, loop: MainLoop) -> tuple[Operation, ...]:
    """Return the operations of the main loop, counted in the Program and in the listing by their purpose.

    The counts differ if one instruction implements several operations, or several instructions one operation.
    """
    wanted = words.counts(repeated(program))
    emitted: dict[str, Counter[str]] = {}
    for instruction in loop.instructions:
        origin = instruction.origin
        name = origin.op.name.lower() if origin is not None else _AROUND
        emitted.setdefault(name, Counter())[instruction.name] += 1
    names = [*wanted, *(name for name in emitted if name not in wanted)]
    return tuple(Operation(n, wanted.get(n, 0), dict(emitted.get(n, Counter()))) for n in names)


def registers(body: Sequence[Encoded]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the vector (and mask) registers and the general registers that the body uses."""
    names: set[str] = set()
    for item in body:
        if not isinstance(item.line, Ins):
            continue
        for operand in item.line.operands:
            if isinstance(operand, Reg):
                names.add(operand.name)
            elif isinstance(operand, Mem):
                names |= {operand.base, *([operand.index] if operand.index else [])}
        if item.line.mask:
            names.add(item.line.mask)
    general = {_FULL.get(name, name) for name in names} & set(_GENERAL)
    # xmm3 and zmm3 are one register, named by its widest use.
    widest: dict[str, str] = {}
    for name in sorted(names - set(_GENERAL) - set(_FULL) - {"rsp"}):
        number = name.lstrip("kxyzm")
        kind = "k" if name.startswith("k") else "v"
        widest[kind + number] = max(name, widest.get(kind + number, ""))
    vectors = sorted(widest.values(), key=lambda n: (n.startswith("k"), int(n.lstrip("kxyzm"))))
    return tuple(vectors), tuple(name for name in _GENERAL if name in general)


def machine(spec: KernelSpec, program: Program) -> Machine:
    """Return the machine code of a spec's Program, explained."""
    body = build(spec, program).body
    loop = main_loop(body, spec.isa.vector_bytes)
    return Machine(rows(body, loop), loop, operations(program, loop), *registers(body))


def certificates(kernel: Kernel, cache: Path | None) -> tuple[Certificate, ...]:
    """Return the proofs of the machine code, one for each ABI. Raises Refuted."""
    work = prove_kernels.tasks_of([kernel])
    return tuple(prove_kernels.prove_all(work, 1, cache and cache / "proofs.json", lambda _: None).values())


def _cores(spec: KernelSpec, cpus: Sequence[str] | None) -> tuple[str, ...]:
    """Return the requested cores, or the default ones of the kernel's architecture. Raises ModelError for a
    core of another architecture."""
    names = target_of(spec.isa.arch, spec.symbol).cpus if cpus is None else tuple(cpus)
    check_cpus(spec.isa.arch, spec.symbol, names)
    return names


def explain(spec: KernelSpec, cpus: Sequence[str] | None, cache: Path | None) -> Explanation:
    """Generate and prove a kernel and predict its cycles, by default on the usual cores of its architecture.

    cache: the folder of known proofs and predictions. If no prediction can be made, for example without
    llvm-mca, the explanation gives the reason. Raises ModelError for a core that is unknown or of another
    architecture.
    """
    predictions: tuple[Outcome, ...] = ()
    loop = None
    silence = ""
    try:
        names = _cores(spec, cpus)
        loop = None if spec.machine_code else compiled.loop_of(spec)
        found = kernels.predict(spec, names, cache and cache / "mca.json")
        predictions = tuple(found[cpu] for cpu in names)
    except Unavailable as error:
        if cpus is not None and not isinstance(error, ToolMissing):
            raise
        silence = str(error)
    program = generate.program(spec)
    made = machine(spec, program) if spec.machine_code else None
    kernel = generate.generate_one(spec)
    proofs = certificates(kernel, cache)
    return Explanation(spec, program, kernel, proofs, made, loop, predictions, silence)
