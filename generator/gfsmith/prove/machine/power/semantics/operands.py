"""Reading and writing an instruction's operands."""

from __future__ import annotations

from collections.abc import Callable

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.architecture import move_stack
from gfsmith.prove.machine.domain import Runs, Unsupported
from gfsmith.prove.machine.linear import Linear, Word
from gfsmith.prove.machine.modular import total
from gfsmith.prove.machine.operands import general, vector, word
from gfsmith.prove.machine.power.decode import Decoded, Operand, Place
from gfsmith.prove.machine.power.registers import STACK_ALIGNMENT
from gfsmith.prove.machine.state import Opaque, State, Value

Semantics = Callable[[State, Decoded], None]

SPAN = 1 << 64


def number(state: State, operand: Operand, instr: Decoded) -> int:
    """An operand as a plain number, not negative."""
    value = word(state, operand)
    if not isinstance(value, int):
        raise Unsupported(f"{instr} on {value}")
    return value % SPAN


def read(state: State, operand: Operand) -> Value:
    """A general register that is stored or moved."""
    value = state.gpr[general(operand)]
    if isinstance(value, Opaque):
        raise Unsupported(f"{value} is used")
    return value


def holds_data(state: State, operand: Operand) -> bool:
    """Return True if a register holds bytes that are not all constant."""
    value = state.gpr[general(operand)]
    constant = isinstance(value, tuple) and all(
        isinstance(piece, domain.Form) and piece.is_constant for _, piece in value
    )
    return isinstance(value, tuple) and not constant


def write(state: State, operand: Operand, value: Value) -> None:
    """Write a general register; narrower data is extended with zeros."""
    if isinstance(value, tuple):
        value = domain.merge([*value, *domain.zeros(8 - domain.size(value))])
        known = domain.number_in(value)
        value = value if known is None else known
    elif isinstance(value, int):
        value %= SPAN
    state.gpr[general(operand)] = value


def place(state: State, instr: Decoded) -> Word:
    """The address of the last operands: a displacement and a base, or two registers, the first of which
    may be left out (0)."""
    last = instr.operands[-1]
    if isinstance(last, Place):
        base: Word = 0 if last.base == "0" else state.word(last.base)
        return total(base, last.displacement)
    return total(word(state, instr.operands[-2]), word(state, last))


def update(state: State, instr: Decoded, address: Word) -> None:
    """The base of an access with update becomes its address."""
    last = instr.operands[-1]
    base = last.base if isinstance(last, Place) else general(instr.operands[-2])
    state.gpr[base] = address
    if base == "r1":
        move_stack(state, "r1", STACK_ALIGNMENT)


def as_bytes(value: Value, size: int) -> Runs:
    """The low bytes of a general register as data."""
    if isinstance(value, int):
        return domain.constant_runs((value % (1 << 8 * size)).to_bytes(size, "little"))
    if isinstance(value, Linear):
        return domain.cut(domain.number(value), 0, size)
    return domain.cut(value, 0, size)


def read_vector(state: State, operand: Operand) -> Runs:
    return state.vectors[vector(operand)]


def write_vector(state: State, operand: Operand, runs: Runs) -> None:
    state.vectors[vector(operand)] = runs
