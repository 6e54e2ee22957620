"""Comparison of instances executed by Node and by the prover's semantics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.architecture import Flow, Instruction
from gfsmith.prove.machine.branch import Choice, decide
from gfsmith.prove.machine.domain import Runs, Unsupported
from gfsmith.prove.machine.formats.image import Image
from gfsmith.prove.machine.state import Opaque, State, Truth, Value
from gfsmith.prove.machine.wasm.decode import Decoded
from gfsmith.prove.machine.wasm.lower import lowered
from gfsmith.prove.machine.wasm.semantics import TABLE, Entry
from gfsmith.prove.machine.wasm.semantics.operands import BYTES
from gfsmith.prove.verdict import Refutation
from tests.system.cosim.wasm.instances import BLOCK_BYTES, MIDDLE, RESULT, VECTORS, Instance
from tests.system.cosim.wasm.node import Call, call
from tests.system.cosim.x86.symbolic import Memory
from tests.system.cosim.x86.unknowns import Unknowns, undetermined

_SPECIAL = (0, 1, 4, 7, 8, 15, 16, 31, 127, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, (1 << 32) - 16, (1 << 63))
_MASKS = (15, 1, 0xFFFFFFF0, 0xFFFFFFFE, (1 << 64) - 16, 255)


class Mismatch(AssertionError):
    """Node and semantics disagree."""


@dataclass(slots=True)
class Trial:
    """One instance: the state before, as numbers and for the semantics, and the state after them."""

    instance: Instance
    unknowns: Unknowns
    state: State
    values: tuple[int, ...]
    memory: bytes
    result: Value | Opaque | None = None
    refused: bool = False
    lines: list[str] = field(default_factory=list)

    def call(self) -> Call:
        return Call(self.instance.name, self.instance.parameters, self.values, self.memory)


def _number(rng: Random, size: int) -> int:
    pool = (rng.getrandbits(8 * size), rng.getrandbits(8), rng.choice(_SPECIAL), rng.choice(_MASKS))
    return rng.choice(pool) % (1 << 8 * size)


def _parameter(instance: Instance, place: int, unknowns: Unknowns, symbolic: bool, rng: Random) -> Value:
    size = BYTES[instance.parameters[place]]
    if instance.accesses and place == 0:
        return rng.choice((MIDDLE, MIDDLE + rng.randrange(-64, 64), (1 << 32) - rng.randrange(1, 64)))
    if not symbolic or rng.getrandbits(1):
        return _number(rng, size)
    return rng.choice((unknowns.number(), unknowns.number(), unknowns.data(size)))


def _content(unknowns: Unknowns, symbolic: bool, rng: Random) -> Runs:
    """Return the memory: vectors and other data."""
    parts: list[domain.Run] = [(VECTORS, domain.CONSTANTS[rng.randrange(256)])]
    while domain.size(tuple(parts)) < BLOCK_BYTES:
        known = domain.constant_runs(
            rng.choice((rng.randbytes(16), bytes(n % 16 for n in rng.randbytes(16))))
        )
        kinds = (unknowns.data, unknowns.coefficients, unknowns.constant)
        parts += rng.choice(kinds)(16) if symbolic and rng.randrange(4) else known
    return domain.merge(parts)


def trials(instances: Sequence[Instance], rng: Random, symbolic: bool) -> list[Trial]:
    """Return the instances with random states."""
    found = []
    shared = [Unknowns(rng, ("nibble",)) for _ in range(8)]
    for instance in instances:
        unknowns = rng.choice(shared)
        given = [
            _parameter(instance, place, unknowns, symbolic, rng) for place in range(len(instance.parameters))
        ]
        values = tuple(
            unknowns.register(value) % (1 << 8 * BYTES[kind])
            for value, kind in zip(given, instance.parameters, strict=True)
        )
        state = State.concrete({}, [], [], {})
        state.gpr = {f"r{number}": value for number, value in enumerate(given)}
        state.vectors = [domain.zeros(16)] * 8
        runs = _content(unknowns, symbolic, rng)
        state.memory = Memory(0, runs, unknowns)
        state.facts = unknowns.facts()
        unknowns.watch(state)
        found.append(Trial(instance, unknowns, state, values, unknowns.value(runs)))
    return found


def execute(trial: Trial, image: Image, table: dict[str, Entry]) -> None:
    """Execute the function up to the store of its result."""
    instructions = lowered(image.listings[trial.instance.name]).instructions
    rows = [row for row in instructions.values() if isinstance(row.raw, Decoded)]
    assert all(row.flow is not Flow.OTHER for row in instructions.values()), instructions
    last = rows.pop() if TABLE[trial.instance.form].result else None
    try:
        for row in rows:
            table[row.raw.form].run(trial.state, row.raw)
        if last is not None:
            trial.result = _result(trial.state, last)
    except (Unsupported, Refutation, Choice):
        trial.refused = True
        return
    trial.unknowns = trial.unknowns.resolved(trial.state)


def _result(state: State, store: Instruction) -> Value | Opaque:
    register = store.raw.operands[1]
    return state.vectors[register.number] if register.type == "v128" else state.gpr[register.name]


def _differences(trial: Trial, after: bytes | None) -> list[str]:
    """Return the differences between the semantics' result and Node's."""
    if after is None:
        return ["Node traps"]
    lines = []
    kind = TABLE[trial.instance.form].result
    if kind:
        theirs = after[RESULT : RESULT + BYTES[kind]]
        ours, free = _bytes(trial, BYTES[kind])
        if any((a ^ b) & ~c for a, b, c in zip(ours, theirs, free, strict=True)):
            lines.append(f"result: {ours.hex()} / {theirs.hex()}")
    memory = trial.state.memory
    assert isinstance(memory, Memory)
    ours, start = trial.unknowns.value(memory.runs), RESULT + 16 if kind else 0
    if ours[start:] != after[start:]:
        lines.append("memory differs")
    return lines


def _bytes(trial: Trial, size: int) -> tuple[bytes, bytes]:
    """Return the result, and the bits that are undetermined."""
    value = trial.result
    assert value is not None
    if isinstance(value, Truth):
        decision = decide(trial.state, trial.unknowns.flags(value.flags), value.condition)
        assert isinstance(decision, bool)
        value = int(decision)
    if isinstance(value, tuple):
        return trial.unknowns.value(value), undetermined(value)
    number = trial.unknowns.register(value) % (1 << 8 * size)  # type: ignore[arg-type]
    return number.to_bytes(size, "little"), bytes(size)


def check(found: Sequence[Trial], module: Path) -> None:
    """Check all trials that the semantics did not refuse, in one run of Node. Raises Mismatch."""
    accepted = [trial for trial in found if not trial.refused]
    wrong = []
    for trial, after in zip(accepted, call(module, [trial.call() for trial in accepted]), strict=True):
        lines = _differences(trial, after)
        if lines:
            wrong.append(f"{trial.instance.text} of {trial.values}: semantics / Node: {'; '.join(lines)}")
    if wrong:
        raise Mismatch(f"{len(wrong)} instances differ\n" + "\n".join(wrong[:12]))
