"""Comparison of instances executed by qemu and by the prover's semantics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.domain import Runs
from gfsmith.prove.machine.operands import General, Vector
from gfsmith.prove.machine.riscv.decode import Decoded
from gfsmith.prove.machine.riscv.registers import GENERAL, VL, VTYPE
from gfsmith.prove.machine.state import State
from tests.system.cosim.riscv.emulator import Machine, RiscVEmulator
from tests.system.cosim.riscv.instances import BASE, STACK, Instance
from tests.system.cosim.scalar64.emulator import BLOCK_BYTES
from tests.system.cosim.trials import (
    MIDDLE,
    SPECIAL,
    Trial,
    compare,
    drawn,
    fill_general,
    fill_memory,
    fill_vector,
    memory_differences,
    vector_differences,
)
from tests.system.cosim.x86.symbolic import Memory
from tests.system.cosim.x86.unknowns import VECTOR, Unknowns

_TYPES = (0x00, 0x40, 0x80, 0xC0)  #: elements of 8 bits, one register, all policies
_POINTERS = ("x0", f"x{BASE}", f"x{STACK}")


def random_machine(rng: Random, block: int, size: int, decoded: Decoded) -> Machine:
    """Return a machine with vectors of `size` bytes."""
    general = [
        rng.choice((rng.getrandbits(64), rng.randrange(2 * size), rng.choice(SPECIAL))) for _ in range(32)
    ]
    general[0] = 0
    general[BASE] = block + MIDDLE + 16 * rng.randrange(-2, 3)
    general[STACK] = block + MIDDLE + 16 * rng.randrange(-2, 3)
    vectors = [rng.randbytes(size) for _ in range(32)]
    if decoded.mnemonic == "vrgather.vv":  # other indices have no meaning
        index = decoded.operands[-1]
        assert isinstance(index, Vector)
        vectors[index.number] = bytes(rng.choice((rng.randrange(16), 255)) for _ in range(size))
    if decoded.mnemonic == "vmsbf.m" and rng.getrandbits(1):  # first one late, or none
        source = decoded.operands[-1]
        assert isinstance(source, Vector)
        first = rng.randrange(size + 1)
        vectors[source.number] = (-1 << first & (1 << size) - 1).to_bytes(size, "little")
    lengths = (size, size, 8 * rng.randrange(size // 8 + 1), rng.randrange(size + 1))
    return Machine(general, rng.choice(lengths), rng.choice(_TYPES), vectors, rng.randbytes(BLOCK_BYTES))


def _model(machine: Machine, unknowns: Unknowns, block: int) -> State:
    """Return a state for the semantics, without unknowns."""
    general = dict(zip(GENERAL, [*machine.general[1:], machine.vl, machine.vtype], strict=True))
    state = State.concrete(general, machine.vectors, [], {})
    state.memory = Memory(block, domain.constant_runs(machine.memory), unknowns)
    state.facts = unknowns.facts()
    return state


def _stretch(unknowns: Unknowns, size: int) -> Runs:
    """Return `size` bytes of data."""
    return domain.merge([run for _ in range(-(-size // VECTOR)) for run in unknowns.data(min(size, VECTOR))])


def _fill(trial: Trial[Machine], rng: Random) -> None:
    """Put unknowns into some registers and into the middle of the memory."""
    unknowns = trial.unknowns
    operands = trial.decoded.operands
    vectors = {operand.number for operand in operands if isinstance(operand, Vector)}
    general = {operand.name for operand in operands if isinstance(operand, General)}
    size = len(trial.machine.vectors[0])
    for number in range(32):
        if drawn(rng, number in vectors):
            kind = rng.choice((0, 0, 1, 2))
            fill = (lambda n: _stretch(unknowns, n), unknowns.coefficients, unknowns.constant)[kind]
            fill_vector(trial, number, fill(size))
    for number in range(32):
        name = f"x{number}"
        if name not in _POINTERS and drawn(rng, name in general):
            fill_general(trial, rng, number, name)
    if rng.getrandbits(1):
        fill_memory(trial, _stretch(unknowns, 2 * VECTOR))
    unknowns.watch(trial.state)


def trials(
    instances: Sequence[Instance], emulator: RiscVEmulator, rng: Random, symbolic: bool
) -> list[Trial]:
    """Return the instances with random states."""
    found = []
    shared = [Unknowns(rng, ("nibble",)) for _ in range(8)]
    for instance in instances:
        unknowns = rng.choice(shared)
        machine = random_machine(rng, emulator.block, emulator.size, instance.decoded)
        trial = Trial(
            instance, instance.decoded, machine, _model(machine, unknowns, emulator.block), unknowns
        )
        if symbolic:
            _fill(trial, rng)
        trial.vectors = tuple(trial.state.vectors)
        found.append(trial)
    return found


def differences(trial: Trial[Machine], after: Machine) -> Iterator[str]:
    """Yield the differences between the semantics' result (left), with values
    filled in, and qemu's (right).
    """
    theirs = {**{f"x{n}": after.general[n] for n in range(1, 32)}, VL: after.vl, VTYPE: after.vtype}
    for name, number in theirs.items():
        ours = trial.unknowns.register(trial.state.gpr[name])  # type: ignore[arg-type]
        if ours != number:
            yield f"{name}: {ours:#x} / {number:#x}"
    yield from vector_differences(trial, after)
    yield from memory_differences(trial, after)


def check(found: Sequence[Trial[Machine]], emulator: RiscVEmulator) -> None:
    """Check all trials that the semantics did not refuse, in one run of qemu. Raises Mismatch."""
    compare(found, emulator.states, differences)
