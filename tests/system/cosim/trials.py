"""Trials of instructions under qemu: the parts that are the same for AArch64, POWER, RISC-V and s390x.

A trial executes one instruction on a random state, by qemu with numbers and by the prover's semantics with
numbers or with unknowns. The folder of each processor makes the states and compares their registers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Generic, Protocol, TypeVar

from gfsmith.prove.machine.branch import Choice
from gfsmith.prove.machine.domain import Runs, Unsupported
from gfsmith.prove.machine.state import State, Value
from gfsmith.prove.verdict import Refutation
from tests.system.cosim.scalar64.emulator import BLOCK_BYTES
from tests.system.cosim.x86.symbolic import Memory
from tests.system.cosim.x86.unknowns import Unknowns, undetermined

MIDDLE = BLOCK_BYTES // 2
SPECIAL = (0, 1, 15, 16, (1 << 64) - 1, 1 << 63, (1 << 63) - 1, (1 << 32) - 1, 1 << 31)
#: Number of 16 registers that get unknowns: of those that the instruction names, and of others.
_NAMED, _OTHER = 10, 1

#: Form -> its semantics.
Meanings = dict[str, Callable[[State, Any], None]]


class Mismatch(AssertionError):
    """qemu and semantics disagree."""


class Machine(Protocol):
    """The state of a processor as numbers."""

    general: list[int]
    vectors: list[bytes]
    memory: bytes


M = TypeVar("M", bound=Machine)


@dataclass(slots=True)
class Trial(Generic[M]):
    """One instance: the state before, as numbers and for the semantics, and the state after them. vectors:
    those before."""

    instance: Any
    decoded: Any
    machine: M
    state: State
    unknowns: Unknowns
    vectors: tuple[Runs, ...] = ()
    refused: bool = False


def blocks(before: int, after: int) -> list[bytes]:
    """Return memory with random bytes within the reach of instructions: `before` and `after` its middle."""
    return [
        bytes([number]) * (MIDDLE - before)
        + Random(number).randbytes(before + after)
        + bytes(BLOCK_BYTES - MIDDLE - after)
        for number in range(4)
    ]


def drawn(rng: Random, named: bool) -> bool:
    """Return True if a register gets unknowns. named: the instruction names it."""
    return rng.randrange(16) < (_NAMED if named else _OTHER)


def fill_vector(trial: Trial[M], number: int, runs: Runs) -> None:
    """Put unknown bytes into a vector register."""
    trial.state.vectors[number] = runs
    trial.machine.vectors[number] = trial.unknowns.value(runs)


def fill_general(trial: Trial[M], rng: Random, number: int, name: str) -> None:
    """Put an unknown number or unknown bytes into a general register."""
    unknowns = trial.unknowns
    value: Value = unknowns.number() if rng.getrandbits(1) else unknowns.data(8)
    trial.state.gpr[name] = value
    trial.machine.general[number] = unknowns.register(value)


def fill_memory(trial: Trial[M], runs: Runs) -> None:
    """Put 128 unknown bytes into the middle of the memory."""
    memory = trial.state.memory
    assert isinstance(memory, Memory)
    memory.store(memory.address + MIDDLE - 64, runs)
    trial.machine.memory = trial.unknowns.value(memory.runs)


def execute(trial: Trial[M], meanings: Meanings) -> None:
    """Execute the instance by the semantics."""
    try:
        meanings[trial.decoded.form](trial.state, trial.decoded)
    except (Unsupported, Refutation, Choice):
        trial.refused = True
        return
    trial.unknowns = trial.unknowns.resolved(trial.state)


def general_differences(trial: Trial[M], after: Iterable[tuple[str, int]]) -> Iterator[str]:
    """Yield the general registers in which semantics and qemu differ, except for undetermined bits. after:
    names and numbers of qemu."""
    for name, theirs in after:
        value = trial.state.gpr[name]
        free = int.from_bytes(undetermined(value), "little") if isinstance(value, tuple) else 0
        ours = trial.unknowns.register(value)  # type: ignore[arg-type]
        if (ours ^ theirs) & ~free:
            yield f"{name}: {ours:#x} / {theirs:#x}"


def vector_differences(trial: Trial[M], after: M, prefix: str = "v") -> Iterator[str]:
    """Yield the vector registers in which semantics and qemu differ, except for undetermined bits."""
    for number, (runs, given) in enumerate(zip(trial.state.vectors, after.vectors, strict=True)):
        if runs is trial.vectors[number]:  # not written
            if given != trial.machine.vectors[number]:
                yield f"{prefix}{number} changes"
            continue
        content = trial.unknowns.value(runs)
        if any((a ^ b) & ~free for a, b, free in zip(content, given, undetermined(runs), strict=True)):
            yield f"{prefix}{number}: {content.hex()} / {given.hex()}"


def memory_differences(trial: Trial[M], after: M) -> Iterator[str]:
    """Yield a line if the memory differs."""
    memory = trial.state.memory
    assert isinstance(memory, Memory)
    if trial.unknowns.value(memory.runs) != after.memory:
        yield "memory differs"


def compare(
    found: Sequence[Trial[M]],
    states: Callable[[Sequence[tuple[bytes, M]]], list[M]],
    differences: Callable[[Trial[M], M], Iterator[str]],
) -> None:
    """Check all trials that the semantics did not refuse. Raises Mismatch. states: an emulator's, for all
    trials at once. differences: those between the semantics' result, with values filled in, and qemu's."""
    accepted = [trial for trial in found if not trial.refused]
    answers = states([(trial.instance.encoded, trial.machine) for trial in accepted])
    wrong = []
    for trial, after in zip(accepted, answers, strict=True):
        lines = list(differences(trial, after))
        if lines:
            wrong.append("\n  ".join([f"{trial.instance.text}: semantics / qemu", *lines[:6]]))
    if wrong:
        raise Mismatch(f"{len(wrong)} instances differ\n" + "\n".join(wrong[:12]))
