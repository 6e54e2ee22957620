"""Description of a processor for the prover: the interface between the core and one folder per architecture.

The core (linear, domain, memory, branch, invariant, explore, entry, prove) uses names and numbers of
registers and the control flow of instructions. An `Architecture` provides everything else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, NamedTuple, Protocol

from gfsmith.kernel.isa import Isa
from gfsmith.prove.machine import domain
from gfsmith.prove.machine.abi import Abi
from gfsmith.prove.machine.domain import Runs
from gfsmith.prove.machine.formats.image import Function, Image, Reference
from gfsmith.prove.machine.linear import Address, Linear, Word, base
from gfsmith.prove.machine.memory import Memory
from gfsmith.prove.machine.state import Condition, Flags, State
from gfsmith.prove.verdict import Refutation


class Flow(Enum):
    """The control flow after an instruction: to the next instruction, to `target`, to either of the two, back
    to the caller, or elsewhere."""

    NEXT = auto()
    JUMP = auto()
    BRANCH = auto()
    RETURN = auto()
    OTHER = auto()


#: The target of a branch that returns to the caller: an address that no code has.
RETURN = 1 << 64


@dataclass(frozen=True, slots=True)
class Instruction:
    """One decoded instruction. filling: it has no effect and may lie between functions. raw: the decoder's
    object, whose text is the disassembly."""

    ip: int
    next_ip: int
    flow: Flow
    raw: Any
    target: int = 0
    filling: bool = False

    def __str__(self) -> str:
        return str(self.raw)


#: The instruction of a function at an address, which its code contains; None if there is none.
Decode = Callable[[int], Instruction | None]


def by_bytes(
    decode: Callable[[bytes, int], Instruction | None], longest: int, image: Image, function: Function
) -> Decode:
    """Return the decoder for a processor that decodes an instruction from its bytes and its address alone.
    longest: bytes of the longest instruction."""
    code = image.read(function.address, function.size) or b""

    def at(ip: int) -> Instruction | None:
        start = ip - function.address
        return decode(code[start : start + longest], ip)

    return at


class Start(NamedTuple):
    """One entry point: its address, the values of registers there besides the parameters, and the values that
    registers must have on return. vectors: the values of the vector registers; None: unknown."""

    ip: int
    holds: Mapping[str, Word]
    leaves: Mapping[str, Word]
    vectors: tuple[Runs, ...] | None = None


class Architecture(Protocol):
    """A processor. Its methods raise only Unsupported and Refutation.

    general: names of the general registers, the stack pointer among them. vectors, vector_bytes, masks: the
    number of vector registers, their bytes, the number of mask registers. vector_name: the name of a vector
    register in messages about `preserved_vectors`. alignment: the stack pointer always moves by multiples of
    this number of bytes.
    """

    name: str
    general: tuple[str, ...]
    stack_pointer: str
    alignment: int
    vectors: int
    vector_bytes: int
    vector_name: str
    masks: int
    abis: Mapping[str, Abi]

    def decoder(self, image: Image, function: Function) -> Decode:
        """Return the decoder of a function."""

    def features(self, isa: Isa, granted: Iterable[str] = ()) -> tuple[str, ...]:
        """Return the features that code for an instruction set may use, with those that are granted."""

    def lengthened(self, features: tuple[str, ...]) -> tuple[Architecture, ...]:
        """Return this processor once for each length of scalable vectors that code with these features may
        meet, shortest first; () if the code has no scalable vectors."""

    def lacks(self, instruction: Instruction, features: tuple[str, ...]) -> str | None:
        """Return a feature that the instruction needs and that is neither plain nor among `features`; None if
        there is none."""

    def is_linked(self, instruction: Instruction, reference: Reference) -> bool:
        """Return whether the instruction has a meaning with the number that a linker puts into it."""

    def starts(self, image: Image, function: Function) -> tuple[Start, ...]:
        """Return the entry points; all are proved."""

    def execute(self, state: State, instruction: Instruction) -> None:
        """Execute an instruction of Flow.NEXT, or the part of a Flow.BRANCH before its test (counting)."""

    def test(self, state: State, instruction: Instruction) -> tuple[Flags, Condition]:
        """Return the flags that a Flow.BRANCH tests, and the condition that takes it. Changes nothing."""

    def check_unwind(
        self, image: Image, name: str, abi: Abi, reached: Mapping[int, tuple[Instruction, list[State]]]
    ) -> None:
        """Check that the unwind tables of the file describe every reached instruction, with the states before
        it."""


def move_stack(state: State, name: str, alignment: int = 1) -> None:
    """Record a change of the stack pointer `name`: the bytes below its red zone are lost."""
    pointer = state.gpr[name]
    place = base(pointer) if isinstance(pointer, Linear) else None
    if place is None or place[0] != Address("stack") or not isinstance(place[1], int):
        raise domain.refutation(pointer, "the stack pointer is lost")
    if place[1] % alignment:
        raise Refutation(f"the stack pointer moves by {place[1]} bytes, no multiple of {alignment}")
    assert isinstance(state.memory, Memory)
    state.memory.stack.move(place[1], state.facts)
