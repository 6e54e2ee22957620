"""Semantics of the instructions: a table with one entry per instruction form (iced-x86's Code).

An instruction that is not in the table raises Unsupported, and the answer is then never "proved".
Branches, push, pop, leave and ret are the explorer's. tests/system/cosim/test_x86.py compares every entry
with the CPU.
"""

from __future__ import annotations

from functools import lru_cache

from iced_x86 import Code, Instruction

from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.state import State
from gfsmith.prove.machine.x86.semantics import bits, conditions, general, moves, shuffles, vector
from gfsmith.prove.machine.x86.semantics.operands import Semantics

__all__ = ["FORMS", "Unsupported", "step"]


def _by_code() -> dict[int, Semantics]:
    table: dict[int, Semantics] = {}
    for part in (bits.TABLE, conditions.TABLE, general.TABLE, moves.TABLE, shuffles.TABLE, vector.TABLE):
        for name, meaning in part.items():
            table[getattr(Code, name)] = meaning
    return table


_TABLE = _by_code()
FORMS: frozenset[int] = frozenset(_TABLE)


@lru_cache(maxsize=1)
def _names() -> dict[int, str]:
    return {getattr(Code, name): name for name in dir(Code) if name.isupper()}


def step(state: State, instr: Instruction) -> None:
    """Execute one instruction that is no branch. Raises Unsupported, or Refutation at a wrong access."""
    meaning = _TABLE.get(instr.code)
    if meaning is None:
        raise Unsupported(f"no semantics for {_names().get(instr.code, instr.code)}: {instr}")
    meaning(state, instr)
