"""Calling conventions: the record that describes one. Each processor's are in its registers.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gfsmith.prove.machine.stack import DEEPEST


@dataclass(frozen=True, slots=True, kw_only=True)
class Abi:
    """A calling convention.

    arguments: registers of the first parameters, the others lie on the stack from `stack_arguments` on.
    result: the register of a number that is returned.
    extends: a caller extends an integer of 32 bits to the whole register.
    preserved: general registers that keep their value; preserved_vectors: vector register -> how many of
    its low bytes. preserved_conditions: sets of flags that keep their value. anchored: general registers that
    hold the entry value of the stack pointer plus a number, on entry and at return. zeros: general registers
    that hold 0, on entry and at return. constant: general registers that keep their entry value at every
    instruction, because a signal handler reads them. stack_multiple: a place,
    and a number of which its address is a multiple. return_address: a register, a place, or None if no
    instruction can reach it. pointer: bytes of an address and of a length. Places are relative to the stack
    pointer on entry. home, red_zone, guard, deepest: as in stack.Stack. stack_vectors: the vectors that a
    function may have on the stack besides `deepest` bytes. landing: the bytes that begin every function that
    may be called by address where branch protection is on.
    """

    name: str
    arguments: tuple[str, ...]
    preserved: tuple[str, ...]
    return_address: str | int | None
    stack_arguments: int
    pointer: int = 8
    preserved_vectors: Mapping[int, int] = field(default_factory=dict)
    preserved_conditions: tuple[str, ...] = ()
    home: tuple[int, int] = (0, 0)
    red_zone: int = 0
    guard: int = DEEPEST
    deepest: int = DEEPEST
    stack_vectors: int = 0
    anchored: Mapping[str, int] = field(default_factory=dict)
    zeros: tuple[str, ...] = ()
    constant: tuple[str, ...] = ()
    stack_multiple: tuple[int, int] = (0, 1)
    landing: bytes = b""
    result: str = ""
    extends: bool = False
