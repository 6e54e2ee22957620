"""The kind of function that is proved: its state on entry, its duty at the return, and the change of its
vector registers in loops. The exploration is the same for all kinds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gfsmith.prove.machine.accumulators import Growth, Register, accumulator
from gfsmith.prove.machine.architecture import Architecture, Start
from gfsmith.prove.machine.constants import Constants
from gfsmith.prove.machine.contract import Contract
from gfsmith.prove.machine.entry import check_end, entry_state
from gfsmith.prove.machine.state import State


@dataclass(frozen=True, slots=True)
class Subject:
    """A kind of function.

    entry_state: returns the state on entry for a range of lengths. check_end: checks the conditions at the
    return; raises Refutation or Unsupported. growth: returns the change of a register from the states
    of the first iterations of a loop; None if nothing is known of it.
    """

    entry_state: Callable[[Contract, Architecture, Start, tuple[int, int], Constants], State]
    check_end: Callable[[Contract, Architecture, Start, State], None]
    growth: Callable[[Contract, Sequence[State], Register], Growth | None]


#: A kernel, of which the contract states everything.
KERNEL = Subject(entry_state, check_end, accumulator)
