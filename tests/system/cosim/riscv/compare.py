"""Comparison of instances executed by qemu and by the prover's semantics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.branch import Choice
from gfsmith.prove.machine.domain import Runs, Unsupported
from gfsmith.prove.machine.riscv.decode import Decoded, General, Vector
from gfsmith.prove.machine.riscv.registers import GENERAL, VL, VTYPE
from gfsmith.prove.machine.state import State, Value
from gfsmith.prove.verdict import Refutation
from tests.system.cosim.riscv.emulator import Machine, RiscVEmulator
from tests.system.cosim.riscv.instances import BASE, STACK, Instance
from tests.system.cosim.scalar64.emulator import BLOCK_BYTES
from tests.system.cosim.x86.symbolic import Memory
from tests.system.cosim.x86.unknowns import VECTOR, Unknowns, undetermined

_MIDDLE = BLOCK_BYTES // 2
_SPECIAL = (0, 1, 15, 16, (1 << 64) - 1, 1 << 63, (1 << 63) - 1, (1 << 32) - 1, 1 << 31)
_NAMED, _OTHER = 10, 1  #: how many of 16 registers get unknowns: the named ones, and others
_TYPES = (0x00, 0x40, 0x80, 0xC0)  #: elements of 8 bits, one register, all policies
_POINTERS = ("x0", f"x{BASE}", f"x{STACK}")

Meanings = dict[str, Callable[[State, Decoded], None]]


class Mismatch(AssertionError):
    """qemu and semantics disagree."""


@dataclass(slots=True)
class Trial:
    """One instance: the state before, as numbers and for the semantics, and the state after them."""

    instance: Instance
    machine: Machine
    state: State
    unknowns: Unknowns
    vectors: tuple[Runs, ...] = ()
    refused: bool = False


def random_machine(rng: Random, block: int, size: int, decoded: Decoded) -> Machine:
    """Return a machine with vectors of `size` bytes."""
    general = [
        rng.choice((rng.getrandbits(64), rng.randrange(2 * size), rng.choice(_SPECIAL))) for _ in range(32)
    ]
    general[0] = 0
    general[BASE] = block + _MIDDLE + 16 * rng.randrange(-2, 3)
    general[STACK] = block + _MIDDLE + 16 * rng.randrange(-2, 3)
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


def _fill(trial: Trial, rng: Random) -> None:
    """Put unknowns into some registers and into the middle of the memory."""
    unknowns, state, machine = trial.unknowns, trial.state, trial.machine
    operands = trial.instance.decoded.operands
    vectors = {operand.number for operand in operands if isinstance(operand, Vector)}
    general = {operand.name for operand in operands if isinstance(operand, General)}
    size = len(machine.vectors[0])
    for number in range(32):
        if rng.randrange(16) < (_NAMED if number in vectors else _OTHER):
            kind = rng.choice((0, 0, 1, 2))
            fill = (lambda n: _stretch(unknowns, n), unknowns.coefficients, unknowns.constant)[kind]
            state.vectors[number] = runs = fill(size)
            machine.vectors[number] = unknowns.value(runs)
    for number in range(32):
        name = f"x{number}"
        if name not in _POINTERS and rng.randrange(16) < (_NAMED if name in general else _OTHER):
            value: Value = unknowns.number() if rng.getrandbits(1) else unknowns.data(8)
            state.gpr[name] = value
            machine.general[number] = unknowns.register(value)
    if rng.getrandbits(1):
        memory = state.memory
        assert isinstance(memory, Memory)
        memory.store(memory.address + _MIDDLE - 64, _stretch(unknowns, 2 * VECTOR))
        machine.memory = unknowns.value(memory.runs)
    unknowns.watch(state)


def trials(
    instances: Sequence[Instance], emulator: RiscVEmulator, rng: Random, symbolic: bool
) -> list[Trial]:
    """Return the instances with random states."""
    found = []
    shared = [Unknowns(rng, ("nibble",)) for _ in range(8)]
    for instance in instances:
        unknowns = rng.choice(shared)
        machine = random_machine(rng, emulator.block, emulator.size, instance.decoded)
        trial = Trial(instance, machine, _model(machine, unknowns, emulator.block), unknowns)
        if symbolic:
            _fill(trial, rng)
        trial.vectors = tuple(trial.state.vectors)
        found.append(trial)
    return found


def execute(trial: Trial, meanings: Meanings) -> None:
    """Execute the instance by the semantics."""
    try:
        meanings[trial.instance.form](trial.state, trial.instance.decoded)
    except (Unsupported, Refutation, Choice):
        trial.refused = True
        return
    trial.unknowns = trial.unknowns.resolved(trial.state)


def differences(trial: Trial, after: Machine) -> Iterator[str]:
    """Yield the differences between the semantics' result (left), with values
    filled in, and qemu's (right).
    """
    unknowns, state = trial.unknowns, trial.state
    theirs = {**{f"x{n}": after.general[n] for n in range(1, 32)}, VL: after.vl, VTYPE: after.vtype}
    for name, number in theirs.items():
        ours = unknowns.register(state.gpr[name])  # type: ignore[arg-type]
        if ours != number:
            yield f"{name}: {ours:#x} / {number:#x}"
    for n, (runs, given) in enumerate(zip(state.vectors, after.vectors, strict=True)):
        if runs is trial.vectors[n]:  # not written
            if given != trial.machine.vectors[n]:
                yield f"v{n} changes"
            continue
        content = unknowns.value(runs)
        if any((a ^ b) & ~free for a, b, free in zip(content, given, undetermined(runs), strict=True)):
            yield f"v{n}: {content.hex()} / {given.hex()}"
    memory = state.memory
    assert isinstance(memory, Memory)
    if unknowns.value(memory.runs) != after.memory:
        yield "memory differs"


def check(found: Sequence[Trial], emulator: RiscVEmulator) -> None:
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
