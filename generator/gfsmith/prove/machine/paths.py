"""Where the exploration of a function is: its paths, and what is known of the loops on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

from gfsmith.prove.machine.arch import Instruction
from gfsmith.prove.machine.branch import Split
from gfsmith.prove.machine.invariant import Guess
from gfsmith.prove.machine.linear import Bound
from gfsmith.prove.machine.state import State


@dataclass(slots=True)
class Record:
    """What is known of a loop, by the branch that closes it: its first turns, the guess for any turn and the
    bounds that it assumes for the branch's value."""

    seen: tuple[State, ...] = ()
    guess: Guess | None = None
    bounds: tuple[Bound, Bound] = (-inf, inf)
    unknown: frozenset[str | int] = frozenset()
    tries: int = 0


@dataclass(slots=True)
class Path:
    ip: int
    state: State
    loops: dict[int, Record] = field(default_factory=dict)
    turns: int = 0


class Way(NamedTuple):
    """Where a branch leads, and the bounds of its value if it goes there."""

    ip: int
    bounds: tuple[Bound, Bound]


class Exit(NamedTuple):
    """How a loop is left: a path at its branch. first: the loop's first state, by which it is known."""

    path: Path
    instr: Instruction
    decision: Split
    first: State
