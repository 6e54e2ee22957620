"""What the prover must know of a processor: the interface between the core and one folder per architecture.

The core (linear, domain, memory, branch, invariant, explore, entry, kernel) knows registers by name or
number, instructions by where control goes after them, and asks an `Architecture` for the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, NamedTuple, Protocol

from gfsmith.prove.machine.branch import Condition
from gfsmith.prove.machine.image import Function, Image
from gfsmith.prove.machine.linear import Address, Linear, Word, base
from gfsmith.prove.machine.memory import Memory
from gfsmith.prove.machine.state import Flags, State
from gfsmith.prove.verdict import Refutation


class Flow(Enum):
    """Where control goes: on, to `target`, to `target` or on, back to the caller, or elsewhere."""

    NEXT = auto()
    JUMP = auto()
    BRANCH = auto()
    RETURN = auto()
    OTHER = auto()


#: The target of a branch that returns to the caller: an address that no code has.
RETURN = 1 << 64


@dataclass(frozen=True, slots=True)
class Instruction:
    """One decoded instruction. filling: it does nothing, and may lie between functions. raw: as the
    decoder has it; its text is the disassembly."""

    ip: int
    next_ip: int
    flow: Flow
    raw: Any
    target: int = 0
    filling: bool = False

    def __str__(self) -> str:
        return str(self.raw)


class Start(NamedTuple):
    """One way in: where, what registers hold there besides the parameters, and what they must hold on
    return."""

    ip: int
    holds: Mapping[str, Word]
    leaves: Mapping[str, Word]


@dataclass(frozen=True, slots=True, kw_only=True)
class Abi:
    """A calling convention.

    arguments: registers of the first parameters, the others lie on the stack from `stack_arguments` on.
    preserved: general registers that keep their value; preserved_vectors: vector register -> how many of
    its low bytes. preserved_conditions: sets of flags that keep their value. return_address: a register, or
    a place on the stack. Places are relative to the stack pointer on entry. home, red_zone: as in
    stack.Stack. landing: the bytes that begin every function that may be called by address where branch
    protection is on.
    """

    name: str
    arguments: tuple[str, ...]
    preserved: tuple[str, ...]
    return_address: str | int
    stack_arguments: int
    preserved_vectors: Mapping[int, int] = field(default_factory=dict)
    preserved_conditions: tuple[str, ...] = ()
    home: tuple[int, int] = (0, 0)
    red_zone: int = 0
    landing: bytes = b""


class Architecture(Protocol):
    """A processor. Everything that raises, raises Unsupported or Refutation.

    general: names of the general registers, the stack pointer among them. vectors, vector_bytes, masks: how
    many vector registers, their bytes, how many mask registers. vector_name: what a vector register is
    called in messages about `preserved_vectors`. longest: bytes of the longest instruction. alignment:
    what the stack pointer is always moved by multiples of.
    """

    name: str
    general: tuple[str, ...]
    stack_pointer: str
    alignment: int
    vectors: int
    vector_bytes: int
    vector_name: str
    masks: int
    longest: int
    abis: Mapping[str, Abi]

    def decode(self, code: bytes, ip: int) -> Instruction | None:
        """The instruction that `code` begins with, at address `ip`; None if there is none."""

    def features(self, cpu_flags: Iterable[str]) -> tuple[str, ...]:
        """Features that code for an instruction set with these flags (isa.py) may use."""

    def lacks(self, instruction: Instruction, features: tuple[str, ...]) -> str | None:
        """A feature that the instruction needs and that is neither plain nor among these."""

    def starts(self, image: Image, function: Function) -> tuple[Start, ...]:
        """The ways in; all are proved."""

    def execute(self, state: State, instruction: Instruction) -> None:
        """Run an instruction of Flow.NEXT, or what one of Flow.BRANCH does before it tests (counting)."""

    def test(self, state: State, instruction: Instruction) -> tuple[Flags, Condition]:
        """What an instruction of Flow.BRANCH looks at, and when it is taken. Changes nothing."""

    def check_unwind(
        self, image: Image, name: str, abi: Abi, reached: Mapping[int, tuple[Instruction, State]]
    ) -> None:
        """The file's unwind tables describe every instruction reached, with the state before it."""


def move_stack(state: State, name: str, alignment: int = 1) -> None:
    """The stack pointer `name` has changed: what lies below it, and beyond the red zone, is lost."""
    pointer = state.gpr[name]
    place = base(pointer) if isinstance(pointer, Linear) else None
    if place is None or place[0] != Address("stack") or not isinstance(place[1], int):
        raise Refutation("the stack pointer is lost")
    if place[1] % alignment:
        raise Refutation(f"the stack pointer moves by {place[1]} bytes, no multiple of {alignment}")
    assert isinstance(state.memory, Memory)
    state.memory.stack.move(place[1], state.facts)
