"""Comparison of instances executed by qemu and by the prover's semantics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.branch import decide
from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.operands import General, Vector
from gfsmith.prove.machine.s390x.decode import Decoded, decode, width
from gfsmith.prove.machine.s390x.registers import GENERAL
from gfsmith.prove.machine.s390x.semantics import TABLE
from gfsmith.prove.machine.s390x.semantics.conditions import set_code, test_code
from gfsmith.prove.machine.state import State
from tests.system.cosim.s390x.emulator import Machine, S390xEmulator
from tests.system.cosim.s390x.instances import BASE, INDEX
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

#: Random vectors, and random memory within the reach of instructions.
_POOL = [Random(number).randbytes(16) for number in range(64)]
_BLOCKS = blocks(128, 232)
_RUNS = {content: domain.constant_runs(content) for content in (*_POOL, *_BLOCKS)}
#: A multiplier that divides by 3 (general.py).
_THIRD = (1 << 64) // 3 + 1


def random_machine(rng: Random, block: int, decoded: Decoded) -> Machine:
    kinds = (64, 64, 16, 4)
    general = [rng.choice((rng.getrandbits(rng.choice(kinds)), rng.choice(SPECIAL))) for _ in GENERAL]
    if decoded.mnemonic == "mlgr" and rng.getrandbits(1):
        general[GENERAL.index(_name(decoded, -1))] = _THIRD
    general[BASE] = block + MIDDLE + 16 * rng.randrange(-2, 3)
    general[INDEX] = rng.randrange(8)
    return Machine(general, rng.randrange(4), rng.choices(_POOL, k=32), rng.choice(_BLOCKS))


def _name(decoded: Decoded, number: int) -> str:
    operand = decoded.operands[number]
    assert isinstance(operand, General)
    return operand.name


def model(machine: Machine, unknowns: Unknowns, block: int) -> State:
    """Return a state for the semantics, without unknowns."""
    state = State.concrete(dict(zip(GENERAL, machine.general, strict=True)), [], [], {})
    state.vectors = [_RUNS[content] for content in machine.vectors]
    state.memory = Memory(block, _RUNS[machine.memory], unknowns)
    state.facts = unknowns.facts()
    set_code(state, machine.code)
    return state


def _fill(trial: Trial[Machine], rng: Random) -> None:
    """Put unknowns into some registers and into the middle of the memory."""
    unknowns = trial.unknowns
    operands = trial.decoded.operands
    vectors = {operand.number for operand in operands if isinstance(operand, Vector)}
    general = {operand.name for operand in operands if isinstance(operand, General)}
    if trial.decoded.mnemonic == "mlgr":  # one factor
        general = {f"r{int(_name(trial.decoded, 0)[1:]) + 1}"} - {_name(trial.decoded, 1)}
    for number in range(32):
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
    instances: Sequence[Instance], emulator: S390xEmulator, rng: Random, symbolic: bool
) -> list[Trial]:
    """Return the instances whose decoded form is in the table, with random states."""
    found = []
    shared = [Unknowns(rng) for _ in range(8)]
    for instance in instances:
        decoded = decode(instance.encoded[: width(instance.encoded)], emulator.slot)
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
    yield from vector_differences(trial, after)
    yield from _code_differences(trial.state, trial.unknowns, after)
    yield from memory_differences(trial, after)


def _code_differences(state: State, unknowns: Unknowns, after: Machine) -> Iterator[str]:
    """Yield the masks of branches about which the condition code is wrong."""
    for mask in range(1, 15):
        try:
            flags, condition = test_code(state, mask)
        except Unsupported:
            continue
        taken = decide(state, unknowns.flags(flags), condition)
        if taken != bool(mask & 8 >> after.code):
            yield f"mask {mask}: {taken} / code {after.code}"


def check(found: Sequence[Trial[Machine]], emulator: S390xEmulator) -> None:
    """Check all trials that the semantics did not refuse, in one run of qemu. Raises Mismatch."""
    compare(found, emulator.states, differences)
