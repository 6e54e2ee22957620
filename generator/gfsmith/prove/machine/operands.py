"""Operands of decoded instructions that several processors have, and their values."""

from __future__ import annotations

from typing import NamedTuple

from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.linear import Word
from gfsmith.prove.machine.state import State


class General(NamedTuple):
    """A general register."""

    name: str


class Vector(NamedTuple):
    """A vector register."""

    number: int


class Immediate(NamedTuple):
    """A number in the instruction."""

    number: int


def general(operand: object) -> str:
    """Return a general register's name. Raises Unsupported for another operand."""
    if not isinstance(operand, General):
        raise Unsupported(f"{operand} is no general register")
    return operand.name


def vector(operand: object) -> int:
    """Return a vector register's number. Raises Unsupported for another operand."""
    if not isinstance(operand, Vector):
        raise Unsupported(f"{operand} is no vector register")
    return operand.number


def immediate(operand: object) -> int:
    """Return the number of an immediate. Raises Unsupported for another operand."""
    if not isinstance(operand, Immediate):
        raise Unsupported(f"{operand} is no number")
    return operand.number


def word(state: State, operand: object) -> Word:
    """Return an operand as a number or an address.

    Raises Refutation if the operand holds data: a later branch or address could leak it by timing.
    """
    return operand.number if isinstance(operand, Immediate) else state.word(general(operand))
