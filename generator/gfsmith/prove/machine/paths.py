"""Current state of the exploration of a function: its paths, and records of the loops on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import Any, NamedTuple

from gfsmith.prove.machine.architecture import Instruction
from gfsmith.prove.machine.branch import Split
from gfsmith.prove.machine.invariant import Guess
from gfsmith.prove.machine.linear import Bound
from gfsmith.prove.machine.state import State


@dataclass(slots=True)
class Record:
    """The record of a loop, found by the branch that closes it: its first iterations, the guess for any
    iteration and the assumed bounds of the value of the branch. withdrawn: the guess was wrong. node: the
    loop's node of the certificate."""

    seen: tuple[State, ...] = ()
    guess: Guess | None = None
    bounds: tuple[Bound, Bound] = (-inf, inf)
    unknown: frozenset[str | int] = frozenset()
    tries: int = 0
    withdrawn: bool = False
    node: list[Any] = field(default_factory=list)


@dataclass(slots=True)
class Path:
    ip: int
    state: State
    loops: dict[int, Record] = field(default_factory=dict)
    iterations: int = 0
    guesses: tuple[Record, ...] = ()
    visited: set[int] = field(default_factory=set)
    node: list[Any] = field(default_factory=list)
    splits: int = 0

    def __post_init__(self) -> None:
        """guesses: those on which the path depends. visited: the instructions that it has come to. node: the
        part of the certificate for the rest of the path (certificate.py). splits: the undecided branches so
        far, without those that close a loop by induction."""
        self.guesses = tuple(record for record in self.loops.values() if record.guess is not None)

    @property
    def holds(self) -> bool:
        """Return whether no guess on which the path depends was withdrawn."""
        return not any(record.withdrawn for record in self.guesses)


class Way(NamedTuple):
    """One side of a branch: its target, and the bounds of the branch's value on it."""

    ip: int
    bounds: tuple[Bound, Bound]


class Exit(NamedTuple):
    """An exit from a loop: a path at its branch. first: the loop's first state, which identifies it. parts:
    the list in the certificate for the parts of this side."""

    path: Path
    instr: Instruction
    decision: Split
    first: State
    parts: list[Any]
