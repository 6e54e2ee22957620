"""Comparison of one instance executed by the CPU and by the prover's semantics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from random import Random

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.domain import Runs
from gfsmith.prove.machine.state import Block, Known, State, constant_bytes
from gfsmith.prove.machine.x86.semantics import Unsupported, step
from gfsmith.prove.verdict import Refutation
from tests.system.cosim.x86.cpu import GPR, Cpu, Fault, Level, Machine
from tests.system.cosim.x86.instances import Instance, Place, make_instance

#: The flags in the prover's model.
FLAGS = ("cf", "zf", "sf", "of")


class Mismatch(AssertionError):
    """CPU and semantics disagree."""


class Outcome(Enum):
    """Result of the comparison of an instance."""

    EQUAL = "equal"
    REFUSED = "refused"
    FAULT = "fault"


class Vectors(list[Runs]):
    """Vector registers whose bytes become runs only when they are read: an instruction reads two."""

    def __init__(self, contents: Sequence[bytes]) -> None:
        super().__init__(() for _ in contents)
        self._contents: list[bytes | None] = list(contents)

    def __getitem__(self, number: int) -> Runs:  # type: ignore[override]
        if not super().__getitem__(number):
            content = self._contents[number]
            assert content is not None
            super().__setitem__(number, domain.constant_runs(content))
        return super().__getitem__(number)

    def __setitem__(self, number: int, runs: Runs) -> None:  # type: ignore[override]
        self._contents[number] = None
        super().__setitem__(number, runs)

    def __iter__(self) -> Iterator[Runs]:
        return (self[number] for number in range(len(self)))

    def unwritten(self, number: int) -> bytes | None:
        """Return the bytes of a register that no instruction has written."""
        return self._contents[number]


class Memory(Block):
    """Plain memory whose bytes can be read directly."""

    def content(self, address: int) -> bytes:
        return bytes(self._blocks[address])


def model_state(machine: Machine, place: Place) -> State:
    """Return `machine` as plain numbers for the semantics."""
    state = State.concrete(dict(zip(GPR, machine.gpr, strict=True)), [], machine.masks, {})
    state.vectors, state.memory = Vectors(machine.vectors), Memory({place.block: machine.memory})
    state.flags = Known(*(machine.flag(name) for name in FLAGS))
    state.dirty = has_dirty_uppers(machine)
    return state


def has_dirty_uppers(machine: Machine) -> bool:
    """Return True if any of vector registers 0..15 is in use above its low 16 bytes."""
    return any(any(vector[16:]) for vector in machine.vectors[:16])


def gpr_int(state: State, name: str) -> int:
    """Return the number in a general register. Raises Unsupported."""
    value = state.gpr[name]
    if isinstance(value, tuple):
        return int.from_bytes(constant_bytes(value), "little")
    if not isinstance(value, int):
        raise Unsupported(f"{name} is not a number")
    return value % (1 << 64)


def differences(state: State, after: Machine, place: Place) -> Iterator[str]:
    """Yield every part of the state in which the semantics (left) differ from the CPU (right)."""
    for number, name in enumerate(GPR):
        if gpr_int(state, name) != after.gpr[number]:
            yield f"{name}: {gpr_int(state, name):#x} / {after.gpr[number]:#x}"
    assert isinstance(state.vectors, Vectors) and isinstance(state.memory, Memory)
    for number in range(32):
        kept = state.vectors.unwritten(number)
        ours = state.vector_bytes(number) if kept is None else kept
        if ours != after.vectors[number]:
            yield f"zmm{number}: {ours.hex()} / {after.vectors[number].hex()}"
    for number in range(8):
        if state.mask_int(number) != after.masks[number]:
            yield f"k{number}: {state.mask_int(number):#x} / {after.masks[number]:#x}"
    yield from flag_differences(state, after)
    memory = state.memory.content(place.block)
    for offset in range(place.block_bytes if memory != after.memory else 0):
        if memory[offset] != after.memory[offset]:
            yield f"memory[{offset}]: {memory[offset]:#x} / {after.memory[offset]:#x}"


def flag_differences(state: State, after: Machine) -> Iterator[str]:
    """Yield differences in defined flags and in dirty upper halves: the semantics may report these wrongly,
    but must not miss them.
    """
    for name in FLAGS:
        if state.flag(name) is not None and state.flag(name) != after.flag(name):
            yield f"{name}: {state.flag(name)} / {after.flag(name)}"
    if has_dirty_uppers(after) and not state.dirty:
        yield "upper halves: said to be clean / in use"


def check(instance: Instance, cpu: Cpu, place: Place, level: Level) -> Outcome:
    """Check an instance. An instruction that faults on the CPU must not have a meaning. Raises Mismatch."""
    state = model_state(instance.machine, place)
    refusal: Exception | None = None
    try:
        step(state, instance.instruction)
    except (Unsupported, Refutation) as caught:
        refusal = caught
    try:
        after = cpu.run(instance.encoded, instance.machine, level)
    except Fault as fault:
        if refusal is None:
            raise Mismatch(f"{instance}: faults (signal {fault}), but has a meaning") from None
        return Outcome.FAULT
    if isinstance(refusal, Refutation) and instance.whole:
        raise Mismatch(f"{instance}: is refuted ({refusal}), but accesses only its operand")
    if refusal is not None:
        return Outcome.REFUSED
    found = list(differences(state, after, place))
    if found:
        raise Mismatch("\n  ".join([f"{instance}: semantics / CPU", *found[:8]]))
    return Outcome.EQUAL


def campaign(
    code: int,
    seed: int,
    trial: Callable[[Instance], Outcome],
    place: Place,
    level: Level,
    wanted: int,
    attempts: int,
) -> Counter[Outcome]:
    """Run instances of a form until `wanted` were equal, `attempts` at most. Raises Mismatch."""
    rng = Random(seed)
    outcomes: Counter[Outcome] = Counter()
    for _ in range(attempts):
        instance = make_instance(code, rng, place, level)
        if instance is not None:
            outcomes[trial(instance)] += 1
        if outcomes[Outcome.EQUAL] >= wanted:
            break
    return outcomes
