"""Comparison of instances executed by qemu and by the prover's semantics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.branch import decide
from gfsmith.prove.machine.operands import General, Vector
from gfsmith.prove.machine.power.decode import Bit, Decoded, decode
from gfsmith.prove.machine.power.registers import GENERAL
from gfsmith.prove.machine.power.semantics import TABLE
from gfsmith.prove.machine.power.semantics.conditions import CARRY, test_bit
from gfsmith.prove.machine.state import UNDEFINED, Known, State
from tests.system.cosim.power.emulator import Machine, PowerEmulator
from tests.system.cosim.power.instances import BASE, INDEX
from tests.system.cosim.scalar64.instances import Instance
from tests.system.cosim.trials import (
    MIDDLE,
    SPECIAL,
    Trial,
    blocks,
    compare,
    drawn,
    fill_general,
    fill_memory,
    fill_vector,
    general_differences,
    memory_differences,
    vector_differences,
)
from tests.system.cosim.x86.symbolic import Memory
from tests.system.cosim.x86.unknowns import Unknowns

_ALIGNED = ("lvx", "stvx")
_COUNTED = ("lxvl", "stxvl")
_BITS = ("lt", "gt", "eq")
#: Random vectors, and random memory within the reach of instructions.
_POOL = [Random(number).randbytes(16) for number in range(64)]
_BLOCKS = blocks(128, 192)
_RUNS = {content: domain.constant_runs(content) for content in (*_POOL, *_BLOCKS)}


def random_machine(rng: Random, block: int, decoded: Decoded) -> Machine:
    general = [rng.choice((rng.getrandbits(64), rng.getrandbits(16), rng.choice(SPECIAL))) for _ in GENERAL]
    if decoded.mnemonic == "and":  # known for masks of zeros or of ones
        general = [rng.choice((number, 0, (1 << 64) - 1)) for number in general]
    general[BASE] = block + MIDDLE + 16 * rng.randrange(-2, 3)
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


def _fill(trial: Trial[Machine], rng: Random) -> None:
    """Put unknowns into some registers and into the middle of the memory."""
    unknowns = trial.unknowns
    operands = trial.decoded.operands
    vectors = {operand.number for operand in operands if isinstance(operand, Vector)}
    general = {operand.name for operand in operands if isinstance(operand, General)}
    for number in range(64):
        if drawn(rng, number in vectors):
            kind = rng.choice((unknowns.data, unknowns.data, unknowns.coefficients, unknowns.constant))
            fill_vector(trial, number, kind(16))
    for number, name in enumerate(GENERAL):
        if number not in (BASE, INDEX) and drawn(rng, name in general):
            fill_general(trial, rng, number, name)
    if rng.getrandbits(1):
        fill_memory(trial, (*unknowns.data(64), *unknowns.data(64)))
    unknowns.watch(trial.state)


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


def differences(trial: Trial[Machine], after: Machine) -> Iterator[str]:
    """Yield the differences between the semantics' result (left), with values
    filled in, and qemu's (right).
    """
    yield from general_differences(trial, zip(GENERAL, after.general, strict=True))
    yield from vector_differences(trial, after, "vs")
    yield from _bit_differences(trial.state, trial.unknowns, after)
    yield from memory_differences(trial, after)


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


def check(found: Sequence[Trial[Machine]], emulator: PowerEmulator) -> None:
    """Check all trials that the semantics did not refuse, in one run of qemu. Raises Mismatch."""
    compare(found, emulator.states, differences)
