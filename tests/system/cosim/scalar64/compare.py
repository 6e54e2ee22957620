"""Comparison of instances executed by qemu and by the prover's semantics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.aarch64.decode import Decoded, General, Predicate, Scalable, Vector
from gfsmith.prove.machine.aarch64.scalable import decode
from gfsmith.prove.machine.aarch64.semantics import TABLE
from gfsmith.prove.machine.branch import Choice
from gfsmith.prove.machine.domain import Runs, Unsupported
from gfsmith.prove.machine.linear import add
from gfsmith.prove.machine.state import Known, LowBits, State, Unclear, Value
from gfsmith.prove.verdict import Refutation
from tests.system.cosim.scalar64.emulator import BLOCK_BYTES, Emulator, Machine
from tests.system.cosim.scalar64.instances import BASE, INDEX, LIMIT, Instance
from tests.system.cosim.x86.symbolic import Memory
from tests.system.cosim.x86.unknowns import Unknowns, undetermined

GENERAL = tuple(f"x{n}" for n in range(31))
_MIDDLE = BLOCK_BYTES // 2
_SPECIAL = (0, 1, 15, 16, (1 << 64) - 1, 1 << 63, (1 << 63) - 1, (1 << 32) - 1, 1 << 31)
#: Random memory within the reach of instructions.
_BLOCKS = [
    bytes([number]) * (_MIDDLE - 96) + Random(number).randbytes(288) + bytes(BLOCK_BYTES - _MIDDLE - 192)
    for number in range(4)
]
#: Number of 16 registers that get unknowns: of those that the instruction names, and of others.
_NAMED, _OTHER = 10, 1

_runs = lru_cache(maxsize=1024)(domain.constant_runs)

Meanings = dict[str, Callable[[State, Decoded], None]]


class Mismatch(AssertionError):
    """qemu and semantics disagree."""


@dataclass(slots=True)
class Trial:
    """One instance: the state before, as numbers and for the semantics, and the state after them."""

    instance: Instance
    decoded: Decoded
    machine: Machine
    state: State
    unknowns: Unknowns
    vectors: tuple[Runs, ...] = ()
    refused: bool = False


@lru_cache(maxsize=32)
def _pool(size: int) -> list[bytes]:
    """Return random vectors."""
    return [Random(number).randbytes(size) for number in range(64)]


def _predicate(rng: Random, size: int) -> int:
    """Return the bits of a predicate for vectors of `size` bytes: all, the first ones, or any."""
    return rng.choice(((1 << size) - 1, (1 << rng.randrange(size + 1)) - 1, rng.getrandbits(size)))


def random_machine(rng: Random, block: int, size: int = 16) -> Machine:
    """Return a random state with vectors of `size` bytes."""
    general = [rng.choice((rng.getrandbits(64), rng.getrandbits(16), rng.choice(_SPECIAL))) for _ in GENERAL]
    general[BASE] = block + _MIDDLE + 16 * rng.randrange(-2, 3)
    general[INDEX] = rng.randrange(8)
    general[LIMIT] = rng.randrange(size + 16)
    vectors = rng.choices(_pool(size), k=32)
    predicates = [_predicate(rng, size) for _ in range(16)]
    sp = block + _MIDDLE + 16 * rng.randrange(-2, 3)
    flags = rng.getrandbits(4) << 28
    return Machine(general, sp, flags, vectors, rng.choice(_BLOCKS), predicates)


def _model(machine: Machine, unknowns: Unknowns, block: int) -> State:
    general = {**dict(zip(GENERAL, machine.general, strict=True)), "sp": machine.sp}
    state = State.concrete(general, [], machine.predicates, {})
    state.vectors = [_runs(content) for content in machine.vectors]
    state.memory = Memory(block, _runs(machine.memory), unknowns)
    state.facts = unknowns.facts()
    flags = (machine.flag(name) for name in "czn")
    carry, zero, negative = flags
    state.flags = Known(not carry, zero, negative, machine.flag("v"))
    return state


def _fill(trial: Trial, rng: Random) -> None:
    """Put unknowns into some registers and into the middle of the memory."""
    unknowns, state, machine = trial.unknowns, trial.state, trial.machine
    operands = trial.decoded.operands
    vectors = {operand.number for operand in operands if isinstance(operand, Vector | Scalable)}
    general = {operand.name for operand in operands if isinstance(operand, General)}
    general = rng.choice((general, set()))
    for number in range(32):
        if rng.randrange(16) < (_NAMED if number in vectors else _OTHER):
            runs = _vector(unknowns, rng, len(machine.vectors[number]))
            state.vectors[number] = runs
            machine.vectors[number] = unknowns.value(runs)
    for number, name in enumerate(GENERAL):
        if number not in (BASE, INDEX) and rng.randrange(16) < (_NAMED if name in general else _OTHER):
            value: Value = unknowns.number() if rng.getrandbits(1) else unknowns.data(8)
            state.gpr[name] = value
            machine.general[number] = unknowns.register(value)
    if rng.getrandbits(1):
        memory = state.memory
        assert isinstance(memory, Memory)
        memory.store(memory.address + _MIDDLE - 64, _stretch(unknowns, 128))
        machine.memory = unknowns.value(memory.runs)
    _fill_few(trial, rng)
    unknowns.watch(state)


def _fill_few(trial: Trial, rng: Random) -> None:
    """Put an unknown number below 16 into the limit of whilelo, and an unknown number of bytes into some
    predicates that the instruction names."""
    state, machine, few = trial.state, trial.machine, trial.unknowns.few()
    most = rng.choice((few, add(few, 1)))
    if trial.decoded.mnemonic == "whilelo" and rng.getrandbits(1):
        limit = trial.decoded.operands[-1]
        assert isinstance(limit, General)
        if limit.name in GENERAL:
            state.gpr[limit.name] = most
            machine.general[GENERAL.index(limit.name)] = trial.unknowns.word(most)
    for operand in trial.decoded.operands:
        if isinstance(operand, Predicate) and rng.getrandbits(1):
            state.masks[operand.number] = LowBits(few)
            machine.predicates[operand.number] = (1 << trial.unknowns.word(few)) - 1


def _vector(unknowns: Unknowns, rng: Random, size: int) -> Runs:
    """Return unknown bytes; a coefficient's table is followed by zeros."""
    kind = rng.choice((unknowns.data, unknowns.data, unknowns.coefficients, unknowns.constant))
    if kind != unknowns.coefficients:
        return kind(size)
    return domain.merge([*kind(16), *domain.zeros(size - 16)]) if size > 16 else kind(16)


def _stretch(unknowns: Unknowns, size: int) -> Runs:
    return domain.merge([run for _ in range(size // 64) for run in unknowns.data(64)])


def trials(instances: Sequence[Instance], emulator: Emulator, rng: Random, symbolic: bool) -> list[Trial]:
    """Return the instances whose decoded form is in the table, with random states."""
    found = []
    shared = [Unknowns(rng) for _ in range(16)]
    for instance in instances:
        decoded = decode(instance.encoded, emulator.slot)
        if decoded is None or decoded.form not in TABLE:
            continue  # an alias of the form
        unknowns = rng.choice(shared)
        machine = random_machine(rng, emulator.block, emulator.vector)
        trial = Trial(instance, decoded, machine, _model(machine, unknowns, emulator.block), unknowns)
        if symbolic:
            _fill(trial, rng)
        trial.vectors = tuple(trial.state.vectors)
        found.append(trial)
    return found


def execute(trial: Trial, meanings: Meanings) -> None:
    """Execute the instance by the semantics."""
    try:
        meanings[trial.decoded.form](trial.state, trial.decoded)
    except (Unsupported, Refutation, Choice):
        trial.refused = True
        return
    trial.unknowns = trial.unknowns.resolved(trial.state)


def differences(trial: Trial, after: Machine) -> Iterator[str]:
    """Yield the differences between the semantics' result (left), with values
    filled in, and qemu's (right).
    """
    unknowns, state = trial.unknowns, trial.state
    for name, theirs in (*zip(GENERAL, after.general, strict=True), ("sp", after.sp)):
        value = state.gpr[name]
        free = int.from_bytes(undetermined(value), "little") if isinstance(value, tuple) else 0
        ours = unknowns.register(value)  # type: ignore[arg-type]
        if (ours ^ theirs) & ~free:
            yield f"{name}: {ours:#x} / {theirs:#x}"
    for number, runs in enumerate(state.vectors):
        given = after.vectors[number]
        if runs is trial.vectors[number]:  # not written
            if given != trial.machine.vectors[number]:
                yield f"v{number} changes"
            continue
        content = unknowns.value(runs)
        if any((a ^ b) & ~free for a, b, free in zip(content, given, undetermined(runs), strict=True)):
            yield f"v{number}: {content.hex()} / {given.hex()}"
    for number, theirs in enumerate(after.predicates):
        mask = state.masks[number]
        found = (1 << unknowns.word(mask.count)) - 1 if isinstance(mask, LowBits) else mask
        if found != theirs:
            yield f"p{number}: {found} / {theirs:#x}"
    if not isinstance(state.flags, Unclear):
        flags = unknowns.flags(state.flags)
        said = (("n", flags.sf), ("z", flags.zf), ("v", flags.of))
        pairs = (*said, ("c", None if flags.cf is None else not flags.cf))
        for name, flag in pairs:
            if flag is not None and flag != after.flag(name):
                yield f"{name}: {flag} / {after.flag(name)}"
    memory = state.memory
    assert isinstance(memory, Memory)
    if unknowns.value(memory.runs) != after.memory:
        yield "memory differs"


def check(found: Sequence[Trial], emulator: Emulator) -> None:
    """Check all trials that the semantics did not refuse, in one run of qemu. Raises Mismatch."""
    accepted = [trial for trial in found if not trial.refused]
    answers = emulator.run([(trial.instance.encoded, trial.machine) for trial in accepted])
    wrong = []
    for trial, after in zip(accepted, answers, strict=True):
        lines = list(differences(trial, after))
        if lines:
            wrong.append("\n  ".join([f"{trial.instance.text}: semantics / qemu", *lines[:6]]))
    if wrong:
        raise Mismatch(f"{len(wrong)} instances differ\n" + "\n".join(wrong[:12]))
