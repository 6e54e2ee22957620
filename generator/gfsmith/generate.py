"""spec -> lower -> passes -> prove -> emit, for one kernel and for many at once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gfsmith import parallel, passes
from gfsmith.cache import PACKAGE, Cache, key
from gfsmith.circuits.choice import Candidate, candidates, schedules
from gfsmith.circuits.order import scheduled
from gfsmith.emit import runtime
from gfsmith.emit.c.kernel import build as build_c
from gfsmith.emit.template import TEMPLATES
from gfsmith.emit.x86.frame import Abi
from gfsmith.emit.x86.listing import build as build_x86
from gfsmith.ir import Op, Program, Space
from gfsmith.liveness import pressure
from gfsmith.lower import lower
from gfsmith.lower.baked import lower_baked
from gfsmith.prove.program import prove
from gfsmith.prove.verdict import PROVED, Verdict
from gfsmith.spec import Circuit, KernelSpec, SpecError, Technique

METHOD_PROGRAM = "program"
ABI_C = "c"


class Refuted(Exception):
    """A kernel that does not compute its spec, with the verdict's reason as its message."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """What is written for one spec. code: the machine code per ABI; none for C."""

    spec: KernelSpec
    path: str
    text: str
    code: dict[Abi, bytes]
    verdict: Verdict

    @property
    def digest(self) -> str:
        """SHA-256 of the machine code of all ABIs, or of the C source."""
        content = b"".join(self.code[abi] for abi in Abi if abi in self.code)
        return hashlib.sha256(content or self.text.encode()).hexdigest()

    @property
    def size(self) -> int:
        """Bytes of machine code (System V); 0 for C."""
        return len(self.code.get(Abi.SYSV, b""))

    @property
    def abis(self) -> tuple[str, ...]:
        return tuple(abi.value for abi in self.code) or (ABI_C,)


def program(spec: KernelSpec) -> Program:
    """The Program of a spec, after all passes. Raises SpecError if registers do not suffice."""
    if spec.baked is None:
        return passes.run(lower(spec), spec)
    return choose(spec)[1]


def choose(spec: KernelSpec) -> tuple[Candidate, Program]:
    """The cheapest circuit of a baked kernel, with what moves to and from the frame, and its Program.

    Raises SpecError if none fits into registers and frame.
    """
    error: SpecError | None = None
    best: tuple[float, Candidate, Program] | None = None
    for candidate in circuits(spec):
        bare = candidate.cost(*costs(spec))
        if best is not None and best[0] <= bare:
            break
        try:
            lowered = _least_moves(spec, candidate)
        except SpecError as found:
            error = error or found
            continue
        cost = bare + _moves(lowered)
        if best is None or cost < best[0]:
            best = cost, candidate, lowered
    if best is None:
        assert error is not None
        raise error
    return best[1:]


def _least_moves(spec: KernelSpec, candidate: Candidate) -> Program:
    """The Program of a circuit: in the order in which it was made, or in the better one of that and the
    scheduled order if values have to wait in the frame."""
    program = passes.run(lower_baked(spec, candidate.circuit), spec)
    if not spec.machine_code:
        return min(program, passes.run(lower_baked(spec, scheduled(candidate.circuit)), spec), key=pressure)
    if not program.slots:
        return program
    return min(program, passes.run(lower_baked(spec, scheduled(candidate.circuit)), spec), key=_moves)


def _moves(program: Program) -> float:
    """Cycles for what goes to and from the frame in one turn: one store a cycle, two loads."""
    stores = sum(i.op is Op.SPILL for i in program.loops[0].head)
    refs = sum(i.ref is not None and i.ref.space is Space.SCRATCH for i in program.loops[0].head)
    return stores + 0.5 * (refs - stores)


def circuits(spec: KernelSpec) -> tuple[Candidate, ...]:
    """The circuits of a baked kernel's matrix that the spec allows, cheapest first.

    Raises SpecError if there is none.
    """
    assert spec.baked is not None
    if spec.baked.packets:
        found = schedules(spec.field, spec.baked.rows)
    else:
        found = candidates(spec.field, spec.baked.rows, *costs(spec))
    if spec.circuit is Circuit.CHEAPEST:
        return found
    allowed = tuple(c for c in found if c.label == spec.circuit.value)
    if not allowed:
        labels = ", ".join(sorted(c.label for c in found))
        raise SpecError(f"circuit = {spec.circuit.value}; {spec.matrix_id} has: {labels}")
    return allowed


def costs(spec: KernelSpec) -> tuple[float, float]:
    """Cycles of a multiplication by a constant and of an addition, for `candidates`.

    On Intel's and AMD's cores since 2019 a 512-bit gf2p8affineqb or shuffle takes the one port that has
    it, additions have two, and three-input additions halve them; a nibble product is two shuffles, an
    addition, and its operand's share of a shift and two masks (uops.info). Elsewhere the proportions are
    much the same: POWER's permxor takes a port that additions share with it.
    """
    addition = 0.25 if Op.XOR3 in spec.isa.ops else 0.4
    return (3.5 if spec.technique is Technique.NIBBLE else 1.0), addition


def generate_one(spec: KernelSpec) -> Kernel:
    """Raises SpecError for a kernel that does not fit, Refuted for one that is wrong."""
    if not spec.machine_code:
        return _generate_c(spec)
    lowered = _proved(spec)
    machine = build_x86(spec, lowered)
    return Kernel(spec, runtime.source_path(spec), machine.source, machine.code, PROVED)


def _proved(spec: KernelSpec) -> Program:
    """The Program of a spec. Raises Refuted if it is wrong."""
    lowered = program(spec)
    verdict = prove(spec, lowered)
    if not verdict:
        raise Refuted(verdict.reason)
    return lowered


def _generate_c(spec: KernelSpec) -> Kernel:
    """C with scalable vectors is proved for every length of a vector, and must be one text for all."""
    guard = runtime.guard(spec.isa)
    programs = [_proved(replace(spec, isa=replace(spec.isa, vector_bytes=n))) for n in spec.isa.lengths]
    texts = {build_c(spec, lowered, guard) for lowered in programs}
    if len(texts) > 1:
        raise Refuted(f"{spec.symbol}: its text depends on how long vectors are")
    return Kernel(spec, runtime.source_path(spec), texts.pop(), {}, PROVED)


def generate(
    specs: Sequence[KernelSpec], jobs: int, cache: Path | None, advance: Callable[[int], None]
) -> list[Kernel]:
    """All kernels, in the order of `specs`, on `jobs` processes; `advance(n)` as n more are done.

    Kernels of the same specs and sources are taken from the cache file, and new ones kept there. Raises
    what generate_one raises, for the first failure seen; nothing has been written then.
    """
    store = Cache(cache)
    keys = {spec: key((PACKAGE, TEMPLATES), spec.identity) for spec in specs}
    kernels: dict[KernelSpec, Kernel] = {}
    for spec in specs:
        if keys[spec] in store.known():
            kernels[spec] = _from_record(spec, store.known()[keys[spec]])
            advance(1)
    todo = [spec for spec in specs if spec not in kernels]

    def done(number: int, kernel: Kernel) -> None:
        kernels[todo[number]] = kernel
        advance(1)

    try:
        parallel.run(generate_one, todo, jobs, done)
    finally:
        store.save({keys[spec]: _to_record(kernel) for spec, kernel in kernels.items()})
    return [kernels[spec] for spec in specs]


def _to_record(kernel: Kernel) -> dict[str, Any]:
    """Only proved kernels exist."""
    code = {abi.value: data.hex() for abi, data in kernel.code.items()}
    return {"path": kernel.path, "text": kernel.text, "code": code}


def _from_record(spec: KernelSpec, record: Mapping[str, Any]) -> Kernel:
    code = {abi: bytes.fromhex(record["code"][abi.value]) for abi in Abi if abi.value in record["code"]}
    return Kernel(spec, record["path"], record["text"], code, PROVED)
