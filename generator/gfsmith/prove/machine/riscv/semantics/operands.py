"""Reading and writing an instruction's operands."""

from __future__ import annotations

from collections.abc import Callable

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.domain import Runs, Unsupported
from gfsmith.prove.machine.linear import Word, add
from gfsmith.prove.machine.modular import wrap
from gfsmith.prove.machine.operands import Immediate, general, vector
from gfsmith.prove.machine.register_values import as_bytes
from gfsmith.prove.machine.riscv.decode import Decoded, Operand, Place
from gfsmith.prove.machine.riscv.registers import ZERO
from gfsmith.prove.machine.state import Opaque, State, Value

Semantics = Callable[[State, Decoded], None]

SPAN = 1 << 64


def register_word(state: State, name: str) -> Word:
    """Return a register as a number or an address. Raises Refutation if the register holds data: a later
    branch or address could leak it by timing."""
    return 0 if name == ZERO else state.word(name)


def word(state: State, operand: Operand) -> Word:
    """Return an operand as a number or an address, as register_word does."""
    return operand.number if isinstance(operand, Immediate) else register_word(state, general(operand))


def read(state: State, operand: Operand) -> Value:
    """Return the value of a general register that is stored or moved."""
    name = general(operand)
    value = 0 if name == ZERO else state.gpr[name]
    if isinstance(value, Opaque):
        raise Unsupported(f"{value} is used")
    return value


def data(state: State, operand: Operand) -> Runs:
    """Return the bytes of a general register."""
    return as_bytes(state, read(state, operand), 8)


def write(state: State, operand: Operand, value: Value) -> None:
    """Write a general register; x0 stays 0."""
    name = general(operand)
    if isinstance(value, tuple):
        known = domain.number_in(value)
        value = value if known is None else known
    elif isinstance(value, int):
        value %= SPAN
    if name != ZERO:
        state.gpr[name] = value


def place(state: State, operand: Operand) -> Word:
    """Return the address of an operand in memory."""
    if not isinstance(operand, Place):
        raise Unsupported(f"{operand} is not in memory")
    return wrap(add(register_word(state, operand.base), operand.displacement))


def vector_bytes(state: State) -> int:
    """Return VLEN / 8."""
    return domain.size(state.vectors[0])


def read_vector(state: State, operand: Operand) -> Runs:
    return state.vectors[vector(operand)]
