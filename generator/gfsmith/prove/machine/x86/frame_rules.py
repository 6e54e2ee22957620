"""The stack at an instruction, as observed on the machine (`Step`) or described by an unwind table (`Rules`).

Offsets of stack slots are relative to the stack pointer at the function's entry, where the return
address is: a register pushed first is at -8.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


class UnsupportedTable(Exception):
    """An unsupported element of an unwind table; the message names it."""


@dataclass(frozen=True, slots=True)
class Step:
    """The stack before one instruction.

    Args:
        offset: where the instruction is, relative to the function's start.
        depth: rsp at entry - rsp now, in bytes.
        saved: callee-saved register -> slot that has its entry value, for those changed since entry.
        in_epilogue: from the first instruction that takes the frame down, to the last.
    """

    offset: int
    depth: int
    saved: Mapping[str, int] = field(default_factory=dict)
    in_epilogue: bool = False


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules of a table for one instruction: depth as in Step, and the slot of each register's entry value.

    `red_zone`: slots below the stack pointer may be meant.
    """

    depth: int
    slots: Mapping[str, int]
    red_zone: bool = True


class Table(Protocol):
    """The unwind table of one function."""

    def at(self, step: Step) -> Rules | str:
        """Return the rules of the table at a step, or its error as text. Raises UnsupportedTable."""
