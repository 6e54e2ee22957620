"""Comparison of instances executed by qemu and by the prover's semantics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from random import Random

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.aarch64.decode import General, Predicate, Scalable, Vector
from gfsmith.prove.machine.aarch64.scalable import decode
from gfsmith.prove.machine.aarch64.semantics import TABLE
from gfsmith.prove.machine.domain import Runs
from gfsmith.prove.machine.linear import add
from gfsmith.prove.machine.state import Known, LowBits, State, Unclear
from tests.system.cosim.scalar64.emulator import Emulator, Machine
from tests.system.cosim.scalar64.instances import BASE, INDEX, LIMIT, Instance
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

GENERAL = tuple(f"x{n}" for n in range(31))
_BLOCKS = blocks(96, 192)

_runs = lru_cache(maxsize=1024)(domain.constant_runs)


@lru_cache(maxsize=32)
def _pool(size: int) -> list[bytes]:
    """Return random vectors."""
    return [Random(number).randbytes(size) for number in range(64)]


def _predicate(rng: Random, size: int) -> int:
    """Return the bits of a predicate for vectors of `size` bytes: all, the first ones, or any."""
    return rng.choice(((1 << size) - 1, (1 << rng.randrange(size + 1)) - 1, rng.getrandbits(size)))


def random_machine(rng: Random, block: int, size: int = 16) -> Machine:
    """Return a random state with vectors of `size` bytes."""
    general = [rng.choice((rng.getrandbits(64), rng.getrandbits(16), rng.choice(SPECIAL))) for _ in GENERAL]
    general[BASE] = block + MIDDLE + 16 * rng.randrange(-2, 3)
    general[INDEX] = rng.randrange(8)
    general[LIMIT] = rng.randrange(size + 16)
    vectors = rng.choices(_pool(size), k=32)
    predicates = [_predicate(rng, size) for _ in range(16)]
    sp = block + MIDDLE + 16 * rng.randrange(-2, 3)
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


def _fill(trial: Trial[Machine], rng: Random) -> None:
    """Put unknowns into some registers and into the middle of the memory."""
    unknowns = trial.unknowns
    operands = trial.decoded.operands
    vectors = {operand.number for operand in operands if isinstance(operand, Vector | Scalable)}
    general = {operand.name for operand in operands if isinstance(operand, General)}
    general = rng.choice((general, set()))
    for number in range(32):
        if drawn(rng, number in vectors):
            fill_vector(trial, number, _vector(unknowns, rng, len(trial.machine.vectors[number])))
    for number, name in enumerate(GENERAL):
        if number not in (BASE, INDEX) and drawn(rng, name in general):
            fill_general(trial, rng, number, name)
    if rng.getrandbits(1):
        fill_memory(trial, (*unknowns.data(64), *unknowns.data(64)))
    _fill_few(trial, rng)
    unknowns.watch(trial.state)


def _fill_few(trial: Trial[Machine], rng: Random) -> None:
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


def differences(trial: Trial[Machine], after: Machine) -> Iterator[str]:
    """Yield the differences between the semantics' result (left), with values
    filled in, and qemu's (right).
    """
    unknowns, state = trial.unknowns, trial.state
    yield from general_differences(trial, (*zip(GENERAL, after.general, strict=True), ("sp", after.sp)))
    yield from vector_differences(trial, after)
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
    yield from memory_differences(trial, after)


def check(found: Sequence[Trial[Machine]], emulator: Emulator) -> None:
    """Check all trials that the semantics did not refuse, in one run of qemu. Raises Mismatch."""
    compare(found, emulator.states, differences)
