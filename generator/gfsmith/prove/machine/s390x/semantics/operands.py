"""Reading and writing an instruction's operands."""

from __future__ import annotations

from collections.abc import Callable

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.domain import Runs, Unsupported
from gfsmith.prove.machine.linear import Linear, Word
from gfsmith.prove.machine.modular import nearest, total, wrap
from gfsmith.prove.machine.operands import Immediate, general, vector
from gfsmith.prove.machine.s390x.decode import Decoded, Operand, Place
from gfsmith.prove.machine.state import Opaque, State, Value, constant_bytes
from gfsmith.prove.machine.substitution import field

Semantics = Callable[[State, Decoded], None]

SPAN = 1 << 64
_LOW = 1 << 32


def low_word(state: State, operand: Operand) -> Word:
    """Return the lower 32 bits of an operand, as an unsigned number. Raises Refutation if they are data."""
    if isinstance(operand, Immediate):
        return operand.number % _LOW
    value = read(state, operand)
    if not isinstance(value, tuple):
        return value % _LOW if isinstance(value, int) else field(state, value, 0, 32)
    low = domain.cut(value, 0, 4)
    piece = low[0][1]
    if is_constant(low):
        return int.from_bytes(constant_bytes(low), "little")
    if len(low) == 1 and isinstance(piece, domain.Form) and len(piece.atoms) == 1:
        shard = next(iter(piece.atoms)).shard
        if low == domain.cut(domain.number(shard), 0, 4):
            return field(state, shard, 0, 32)
    raise domain.refutation(value, f"a number depends on {general(operand)}, which holds {value}")


def is_constant(runs: Runs) -> bool:
    return all(isinstance(piece, domain.Form) and piece.is_constant for _, piece in runs)


def write_low(state: State, operand: Operand, value: Word) -> None:
    """Write the lower 32 bits of a general register; the upper ones keep their value."""
    old = read(state, operand)
    if isinstance(value, int):
        value %= _LOW
    if isinstance(old, int) and isinstance(value, int):
        write(state, operand, old % SPAN >> 32 << 32 | value)
        return
    if isinstance(old, Linear):
        low, high = state.facts.range(old)
        if low >= 0 and high < _LOW:
            write(state, operand, value)
            return
    parts = [*domain.cut(as_bytes(value), 0, 4), *domain.cut(as_bytes(old), 4, 8)]
    write(state, operand, domain.merge(parts))


def read(state: State, operand: Operand) -> Value:
    """A general register that is stored or moved."""
    value = state.gpr[general(operand)]
    if isinstance(value, Opaque):
        raise Unsupported(f"{value} is used")
    return value


def write(state: State, operand: Operand, value: Value) -> None:
    """Write a general register."""
    state.gpr[general(operand)] = settled(value)


def settled(value: Value) -> Value:
    """Return the value of a register, as a number if its bytes are those of one."""
    if isinstance(value, tuple):
        known = domain.number_in(value)
        return value if known is None else settled(known)
    return value % SPAN if isinstance(value, int) else value


def as_bytes(value: Value) -> Runs:
    """Return the value of a general register as data, lowest byte first."""
    if isinstance(value, int):
        return domain.constant_runs((value % SPAN).to_bytes(8, "little"))
    return domain.number(value) if isinstance(value, Linear) else value


def backwards(runs: Runs) -> Runs:
    """Return runs in the opposite order: between a general register and memory."""
    pieces = [domain.cut(runs, n, n + 1) for n in range(domain.size(runs))]
    return domain.merge([run for piece in reversed(pieces) for run in piece])


def place(state: State, operand: Operand) -> Word:
    """The address of an operand; register 0 is left out by the decoder."""
    if not isinstance(operand, Place):
        raise Unsupported(f"{operand} is no place in memory")
    at: Word = operand.displacement
    for name in operand.registers:
        at = total(at, nearest(state.word(name)))
    return wrap(at)


def read_vector(state: State, operand: Operand) -> Runs:
    return state.vectors[vector(operand)]


def write_vector(state: State, operand: Operand, runs: Runs) -> None:
    state.vectors[vector(operand)] = runs
