"""Generation of kernels (spec -> lower -> passes -> prove -> emit), for one kernel and for many in
parallel."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import Any, TypeVar

from gfsmith.build import parallel
from gfsmith.build.cache import Cache, key
from gfsmith.emit import kernel_files
from gfsmith.emit.c.kernel import build as build_c
from gfsmith.emit.x86.frame import Abi
from gfsmith.emit.x86.registers import Allocation
from gfsmith.ir import Op, Program, Space
from gfsmith.ir.liveness import pressure
from gfsmith.kernel.spec import (
    Circuit,
    DoesNotFit,
    KernelSpec,
    Operation,
    SpecError,
    Technique,
    TooFewRegisters,
)
from gfsmith.lower import lower
from gfsmith.lower.baked import lower_baked
from gfsmith.lower.circuits.choice import Candidate, candidates, derivations, schedules
from gfsmith.lower.circuits.order import scheduled
from gfsmith.passes import pipeline
from gfsmith.prove.program.prove import prove
from gfsmith.prove.verdict import PROVED, Verdict

ABI_C = "c"
_Made = TypeVar("_Made")


class Refuted(Exception):
    """A kernel that does not compute its spec. The message is the verdict's reason."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """A generated kernel. code: the machine code by the name of the ABI, empty for C. text: the source file
    at `path`."""

    spec: KernelSpec
    path: str
    text: str
    code: Mapping[str, bytes]
    verdict: Verdict

    @property
    def digest(self) -> str:
        """SHA-256 of the machine code of all ABIs, or of the C source."""
        content = b"".join(self.code.values())
        return hashlib.sha256(content or self.text.encode()).hexdigest()

    @property
    def size(self) -> int:
        """Bytes of machine code for the first ABI; 0 for C."""
        return len(next(iter(self.code.values()), b""))

    @property
    def abis(self) -> tuple[str, ...]:
        return tuple(self.code) or (ABI_C,)


def program(spec: KernelSpec) -> Program:
    """Return the Program of a spec after all passes. Raises SpecError if registers or stack do not
    suffice."""
    if spec.baked is None:
        return _most_abreast(spec, _fewest_passes)
    return choose(spec)[1]


def _most_abreast(spec: KernelSpec, attempt: Callable[[KernelSpec, int], _Made]) -> _Made:
    """Return attempt(spec, n) for the most vectors n in one loop for which registers and frame suffice."""
    *more, last = _abreast(spec)
    for abreast in more:
        try:
            return attempt(spec, abreast)
        except DoesNotFit:
            continue
    return attempt(spec, last)


def _fewest_passes(spec: KernelSpec, abreast: int) -> Program:
    """Return the Program with the fewest passes over the outputs for which the registers suffice. Raises
    DoesNotFit."""
    *fewer, last = _numbers_of_passes(spec, abreast)
    for passes in fewer:
        try:
            return _allocated(spec, passes, abreast)
        except TooFewRegisters:
            continue
    return _allocated(spec, last, abreast)


def _abreast(spec: KernelSpec) -> list[int]:
    """Return the numbers of vectors that a loop over the sources may take, the most first. In a single pass
    registers hold the sums of all, or the loop takes one vector."""
    found = [spec.abreast]
    while found[-1] > 1:
        found.append(ceil(found[-1] / 2))
    if spec.isa.registers is None or not _single_pass(spec):
        return found
    return [n for n in found if n * spec.outputs <= spec.isa.registers] or [1]


def _single_pass(spec: KernelSpec) -> bool:
    """Return whether a kernel computes all outputs in one pass: by Horner's rule and in butterflies it has
    to, and where passes would keep their sums in the frame, a C compiler does so without them."""
    left_to_compiler = spec.in_place and Op.SPILL not in spec.isa.ops
    return spec.operation is Operation.HORNER or spec.butterfly or left_to_compiler


def _numbers_of_passes(spec: KernelSpec, abreast: int) -> list[int]:
    """Return the numbers of passes that differ in the most outputs of a pass. Only numbers are tried with
    which registers may hold its sums: those of one vector, or of all in a loop over any number of sources."""
    if _single_pass(spec):
        return [1]
    vectors = abreast if spec.inputs is None else 1
    most = max(1, min(spec.outputs, (spec.isa.registers or spec.outputs * vectors) // vectors))
    return list(dict.fromkeys(ceil(spec.outputs / n) for n in range(most, 0, -1)))


def _allocated(spec: KernelSpec, passes: int, abreast: int) -> Program:
    """Return the Program with some number of passes and vectors. Raises DoesNotFit."""
    program = pipeline.run(lower(spec, passes, abreast), spec)
    if spec.machine_code:
        Allocation(spec.isa, program, spec.symbol)
    return program


def choose(spec: KernelSpec) -> tuple[Candidate, Program]:
    """Return the cheapest circuit of a baked kernel, including moves to and from the frame, and its Program.

    Raises SpecError if there is none.
    """
    return _most_abreast(spec, _cheapest)


def _cheapest(spec: KernelSpec, abreast: int) -> tuple[Candidate, Program]:
    """Return the same with some number of vectors in one loop. Raises DoesNotFit if no circuit fits into
    registers and frame."""
    error: DoesNotFit | None = None
    best: tuple[float, Candidate, Program] | None = None
    for candidate in circuits(spec):
        bare = candidate.cost(*costs(spec))
        if best is not None and best[0] <= bare:
            break
        try:
            lowered = _least_moves(spec, candidate, abreast)
        except DoesNotFit as found:
            error = error or found
            continue
        cost = bare + _moves(lowered)
        if best is None or cost < best[0]:
            best = cost, candidate, lowered
    if best is None:
        assert error is not None
        raise error
    return best[1:]


def _least_moves(spec: KernelSpec, candidate: Candidate, abreast: int) -> Program:
    """Return the Program of a circuit, in its original order or in the scheduled order.

    The scheduled order is tried if the original spills values, and for C always."""
    program = pipeline.run(lower_baked(spec, candidate.circuit, abreast), spec)
    if spec.machine_code and not program.slots:
        return program
    other = pipeline.run(lower_baked(spec, scheduled(candidate.circuit), abreast), spec)
    return min(program, other, key=_moves if spec.machine_code else pressure)


def _moves(program: Program) -> float:
    """Return the cycles of moves to and from the frame in one iteration: one store or two loads per cycle."""
    code = [instr for loop in program.iterations()[0] for instr in loop.head]
    stores = sum(i.op is Op.SPILL for i in code)
    refs = sum(i.ref is not None and i.ref.space is Space.SCRATCH for i in code)
    return stores + 0.5 * (refs - stores)


def circuits(spec: KernelSpec) -> tuple[Candidate, ...]:
    """Return the circuits of a baked kernel's matrix that the spec allows, cheapest first.

    Raises SpecError if there is none.
    """
    assert spec.baked is not None
    if spec.baked.packets:
        automatic = spec.circuit is Circuit.CHEAPEST
        found = (schedules if automatic else derivations)(spec.field, spec.baked.rows)
    else:
        found = candidates(spec.field, spec.baked.rows, *costs(spec))
    if spec.circuit is Circuit.CHEAPEST:
        return found
    allowed = tuple(c for c in found if c.label == spec.circuit.value)
    if not allowed:
        labels = ", ".join(sorted(c.label for c in found))
        raise SpecError(f"circuit = {spec.circuit.value}; allowed for {spec.matrix_id}: {labels}")
    return allowed


def costs(spec: KernelSpec) -> tuple[float, float]:
    """Return the cycles of a multiplication by a constant and of an addition, for `candidates`.

    On Intel's and AMD's cores since 2019 a 512-bit gf2p8affineqb or shuffle runs on one port only, and
    additions on two; three-input additions halve their number. A nibble product is two shuffles, an addition,
    and its operand's share of a shift and two masks (uops.info). Elsewhere the ratios are similar: POWER's
    permxor uses a port that additions also use.
    """
    addition = 0.25 if Op.XOR3 in spec.isa.ops else 0.4
    return (3.5 if spec.technique is Technique.NIBBLE else 1.0), addition


def generate_one(spec: KernelSpec) -> Kernel:
    """Return the kernel of a spec. Raises SpecError for a kernel that does not fit, Refuted for a wrong
    one."""
    if not spec.machine_code:
        return _generate_c(spec)
    from gfsmith.emit.x86.listing import build as build_x86  # imports PeachPy

    lowered = _proved(spec)
    machine = build_x86(spec, lowered)
    return Kernel(spec, kernel_files.source_path(spec), machine.source, _named(machine.code), PROVED)


def _named(code: Mapping[Abi, bytes]) -> dict[str, bytes]:
    return {str(abi): code[abi] for abi in Abi if abi in code}


def _proved(spec: KernelSpec) -> Program:
    """Return the Program of a spec. Raises Refuted if it is wrong."""
    lowered = program(spec)
    verdict = prove(spec, lowered)
    if not verdict:
        raise Refuted(verdict.reason)
    return lowered


def _generate_c(spec: KernelSpec) -> Kernel:
    """Return a C kernel. With scalable vectors it is proved for every vector length and must be one text for
    all."""
    guard = kernel_files.guard(spec.isa)
    programs = [_proved(replace(spec, isa=replace(spec.isa, vector_bytes=n))) for n in spec.isa.lengths]
    texts = {build_c(spec, lowered, guard) for lowered in programs}
    if len(texts) > 1:
        raise Refuted(f"{spec.symbol}: its text depends on the vector length")
    return Kernel(spec, kernel_files.source_path(spec), texts.pop(), {}, PROVED)


def _groups(specs: Iterable[KernelSpec]) -> list[tuple[KernelSpec, ...]]:
    """Return the specs in groups: kernels for one known matrix together, the largest matrices first, all
    other kernels alone. Finding the circuits of a matrix takes longer than generating all of its kernels."""
    found: dict[object, list[KernelSpec]] = {}
    for spec in specs:
        found.setdefault((spec.field, spec.baked.rows) if spec.baked is not None else spec, []).append(spec)
    return sorted(map(tuple, found.values()), key=_size, reverse=True)


def _size(group: tuple[KernelSpec, ...]) -> int:
    """Return the number of elements of the known matrix, 0 without one."""
    return sum(map(len, group[0].baked.rows)) if group[0].baked is not None else 0


def _generate_group(specs: tuple[KernelSpec, ...]) -> list[Kernel]:
    return [generate_one(spec) for spec in specs]


def generate(
    specs: Sequence[KernelSpec], jobs: int, cache: Path | None, advance: Callable[[int], None]
) -> list[Kernel]:
    """Return all kernels, in the order of `specs`, computed on `jobs` processes; calls advance(n) for n more
    kernels.

    Kernels of the same specs and sources come from the cache file, and new ones are added to it. Raises the
    errors of generate_one, for the first failure seen; no output has been written then.
    """
    store = Cache(cache)
    keys = {spec: key((__name__,), spec.identity) for spec in specs}
    kernels: dict[KernelSpec, Kernel] = {}
    for spec in specs:
        if keys[spec] in store.known():
            kernels[spec] = _from_record(spec, store.known()[keys[spec]])
            advance(1)
    todo = _groups(spec for spec in specs if spec not in kernels)

    def done(number: int, made: list[Kernel]) -> None:
        kernels.update(zip(todo[number], made, strict=True))
        advance(len(made))

    try:
        parallel.run(_generate_group, todo, jobs, done)
    finally:
        store.save({keys[spec]: _to_record(kernel) for spec, kernel in kernels.items()})
    return [kernels[spec] for spec in specs]


def _to_record(kernel: Kernel) -> dict[str, Any]:
    """Return the cache record of a kernel. It has no verdict, since only proved kernels exist."""
    code = {abi: data.hex() for abi, data in kernel.code.items()}
    return {"path": kernel.path, "text": kernel.text, "code": code}


def _from_record(spec: KernelSpec, record: Mapping[str, Any]) -> Kernel:
    code = {abi: bytes.fromhex(data) for abi, data in record["code"].items()}
    return Kernel(spec, record["path"], record["text"], code, PROVED)
