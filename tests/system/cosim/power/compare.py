"""Comparison of instances executed by qemu and by the prover's semantics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.branch import Choice, decide
from gfsmith.prove.machine.domain import Runs, Unsupported
from gfsmith.prove.machine.power.decode import Bit, Decoded, General, Vector, decode
from gfsmith.prove.machine.power.registers import GENERAL
from gfsmith.prove.machine.power.semantics import TABLE
from gfsmith.prove.machine.power.semantics.conditions import CARRY, test_bit
from gfsmith.prove.machine.state import UNDEFINED, Known, State, Value
from gfsmith.prove.verdict import Refutation
from tests.system.cosim.power.emulator import Machine, PowerEmulator
from tests.system.cosim.power.instances import BASE, INDEX
from tests.system.cosim.scalar64.emulator import BLOCK_BYTES
from tests.system.cosim.scalar64.instances import Instance
from tests.system.cosim.x86.symbolic import Memory
from tests.system.cosim.x86.unknowns import Unknowns, undetermined

_MIDDLE = BLOCK_BYTES // 2
_SPECIAL = (0, 1, 15, 16, (1 << 64) - 1, 1 << 63, (1 << 63) - 1, (1 << 32) - 1, 1 << 31)
_NAMED, _OTHER = 10, 1  #: how many of 16 registers get unknowns: the named ones, and others
_ALIGNED = ("lvx", "stvx")
_COUNTED = ("lxvl", "stxvl")
_BITS = ("lt", "gt", "eq")
#: Random vectors, and random memory within the reach of instructions.
_POOL = [Random(number).randbytes(16) for number in range(64)]
_BLOCKS = [
    bytes([number]) * (_MIDDLE - 128) + Random(number).randbytes(320) + bytes(BLOCK_BYTES - _MIDDLE - 192)
    for number in range(4)
]
_RUNS = {content: domain.constant_runs(content) for content in (*_POOL, *_BLOCKS)}

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


def random_machine(rng: Random, block: int, decoded: Decoded) -> Machine:
    general = [rng.choice((rng.getrandbits(64), rng.getrandbits(16), rng.choice(_SPECIAL))) for _ in GENERAL]
    if decoded.mnemonic == "and":  # known for masks of zeros or of ones
        general = [rng.choice((number, 0, (1 << 64) - 1)) for number in general]
    general[BASE] = block + _MIDDLE + 16 * rng.randrange(-2, 3)
    general[INDEX] = 16 * rng.randrange(2) if decoded.mnemonic in _ALIGNED else rng.randrange(8)
    if decoded.mnemonic in _COUNTED:  # by the uppermost byte of a register
        general[INDEX] = rng.choice((rng.randrange(20), rng.randrange(256))) << 56 | rng.getrandbits(56)
    if decoded.form.endswith("# r"):  # addressed by the last register only
        general[BASE], general[INDEX] = general[INDEX], general[BASE]
    carry = rng.getrandbits(1) << 29
    return Machine(general, rng.getrandbits(32), carry, rng.choices(_POOL, k=64), rng.choice(_BLOCKS))


def model(machine: Machine, unknowns: Unknowns, block: int) -> State:
    """Return a state for the semantics, without unknowns."""
    state = State.concrete(dict(zip(GENERAL, machine.general, strict=True)), [], [], {})
    state.vectors = [_RUNS[content] for content in machine.vectors]
    state.memory = Memory(block, _RUNS[machine.memory], unknowns)
    state.facts = unknowns.facts()
    for number in range(8):
        for name in _BITS:
            state.conditions[f"cr{number}{name}"] = Known(None, machine.bit(number, name), None, None)
    state.conditions[CARRY + "lt"] = Known(None, not machine.carry, None, None)
    return state


def _fill(trial: Trial, rng: Random) -> None:
    """Put unknowns into some registers and into the middle of the memory."""
    unknowns, state, machine = trial.unknowns, trial.state, trial.machine
    operands = trial.decoded.operands
    vectors = {operand.number for operand in operands if isinstance(operand, Vector)}
    general = {operand.name for operand in operands if isinstance(operand, General)}
    for number in range(64):
        if rng.randrange(16) < (_NAMED if number in vectors else _OTHER):
            kind = rng.choice((unknowns.data, unknowns.data, unknowns.coefficients, unknowns.constant))
            state.vectors[number] = runs = kind(16)
            machine.vectors[number] = unknowns.value(runs)
    for number, name in enumerate(GENERAL):
        if number not in (BASE, INDEX) and rng.randrange(16) < (_NAMED if name in general else _OTHER):
            value: Value = unknowns.number() if rng.getrandbits(1) else unknowns.data(8)
            state.gpr[name] = value
            machine.general[number] = unknowns.register(value)
    if rng.getrandbits(1):
        memory = state.memory
        assert isinstance(memory, Memory)
        memory.store(memory.address + _MIDDLE - 64, (*unknowns.data(64), *unknowns.data(64)))
        machine.memory = unknowns.value(memory.runs)
    unknowns.watch(state)


def trials(
    instances: Sequence[Instance], emulator: PowerEmulator, rng: Random, symbolic: bool
) -> list[Trial]:
    """Return the instances whose decoded form is in the table, with random states."""
    found = []
    shared = [Unknowns(rng, ("permxor",)) for _ in range(8)]
    for instance in instances:
        decoded = decode(instance.encoded, emulator.slot)
        if decoded is None or decoded.form not in TABLE:
            continue  # an alias of the form
        unknowns = rng.choice(shared)
        machine = random_machine(rng, emulator.block, decoded)
        trial = Trial(instance, decoded, machine, model(machine, unknowns, emulator.block), unknowns)
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
    for name, theirs in zip(GENERAL, after.general, strict=True):
        value = state.gpr[name]
        free = int.from_bytes(undetermined(value), "little") if isinstance(value, tuple) else 0
        ours = unknowns.register(value)  # type: ignore[arg-type]
        if (ours ^ theirs) & ~free:
            yield f"{name}: {ours:#x} / {theirs:#x}"
    for number, (runs, given) in enumerate(zip(state.vectors, after.vectors, strict=True)):
        if runs is trial.vectors[number]:  # not written
            if given != trial.machine.vectors[number]:
                yield f"vs{number} changes"
            continue
        content = unknowns.value(runs)
        if any((a ^ b) & ~free for a, b, free in zip(content, given, undetermined(runs), strict=True)):
            yield f"vs{number}: {content.hex()} / {given.hex()}"
    yield from _bit_differences(state, unknowns, after)
    memory = state.memory
    assert isinstance(memory, Memory)
    if unknowns.value(memory.runs) != after.memory:
        yield "memory differs"


def _bit_differences(state: State, unknowns: Unknowns, after: Machine) -> Iterator[str]:
    for number in range(8):
        for name in _BITS:
            flags, condition = test_bit(state, Bit(f"cr{number}", name), wanted=True)
            ours = decide(state, unknowns.flags(flags), condition)
            if ours != after.bit(number, name):
                yield f"cr{number}{name}: {ours} / {after.bit(number, name)}"
    if state.conditions.get(CARRY) is not UNDEFINED:
        flags, condition = test_bit(state, Bit(CARRY, "lt"), wanted=False)
        if decide(state, unknowns.flags(flags), condition) != after.carry:
            yield f"carry: {flags} / {after.carry}"


def check(found: Sequence[Trial], emulator: PowerEmulator) -> None:
    """Check all trials that the semantics did not refuse, in one run of qemu. Raises Mismatch."""
    accepted = [trial for trial in found if not trial.refused]
    answers = emulator.states([(trial.instance.encoded, trial.machine) for trial in accepted])
    wrong = []
    for trial, after in zip(accepted, answers, strict=True):
        lines = list(differences(trial, after))
        if lines:
            wrong.append("\n  ".join([f"{trial.instance.text}: semantics / qemu", *lines[:6]]))
    if wrong:
        raise Mismatch(f"{len(wrong)} instances differ\n" + "\n".join(wrong[:12]))
