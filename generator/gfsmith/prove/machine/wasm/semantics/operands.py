"""Operands of instructions, and the entries of the table.

A register of type i32 or i64 holds a number or address modulo 2^32 or 2^64, the bytes of data, or a truth
value. A number that is an integer lies between 0 and the modulus; an expression with unknowns is any integer
that is congruent to the register. So sums, differences and products are exact, and all other instructions
demand that the facts bound the expression to the register's range.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.branch import Split, decide
from gfsmith.prove.machine.domain import Runs, Unsupported
from gfsmith.prove.machine.linear import Linear, Word
from gfsmith.prove.machine.modular import wrap
from gfsmith.prove.machine.state import Alignment, Opaque, State, Truth, Value
from gfsmith.prove.machine.wasm.decode import Decoded, Register

#: The form of local.get, local.set and local.tee.
COPY = "copy"
BYTES = {"i32": 4, "i64": 8, "v128": 16}

Semantics = Callable[[State, Decoded], None]


class Entry(NamedTuple):
    """An instruction: the types of its operands and of its result ("": none), and its effect. feature: the
    feature of engines that it needs."""

    operands: tuple[str, ...]
    result: str
    run: Semantics
    feature: str = ""


def entry(types: str, run: Semantics, feature: str = "") -> Entry:
    """Return an entry from its types, for example "i32 i32 -> i32"."""
    operands, _, result = types.partition("->")
    return Entry(tuple(operands.split()), result.strip(), run, feature)


def read(state: State, register: Register) -> Value | Opaque:
    """Return the value of a register of type i32 or i64."""
    return state.gpr[register.name]


def is_data(value: Value | Opaque) -> bool:
    """Return whether a value is bytes that are not all constant."""
    return isinstance(value, tuple) and not all(
        isinstance(piece, domain.Form) and piece.is_constant for _, piece in value
    )


def word(state: State, register: Register) -> Word:
    """Return a register as number or address. A truth value is decided, for each outcome if both are
    possible. Refutes a register that holds data, which could leak by timing."""
    value = read(state, register)
    if isinstance(value, Truth):
        decision = decide(state, value.flags, value.condition)
        if isinstance(decision, Split):
            raise decision.choice()
        if isinstance(decision, Alignment):
            raise Unsupported("a number that depends on an address")
        return int(decision)
    return state.word(register.name)


def number(state: State, register: Register, instr: Decoded) -> int:
    """Return a register that holds a known number."""
    value = word(state, register)
    if not isinstance(value, int):
        raise Unsupported(f"{instr} on {value}")
    return value


def bounded(state: State, value: Word, size: int, instr: Decoded) -> Word:
    """Return a number that equals its register. Raises Unsupported if it may exceed the register's range."""
    low, high = state.facts.range(value)
    if low < 0 or high >= 1 << 8 * size:
        raise Unsupported(f"{instr}: {value} may wrap around")
    return value


def write(state: State, register: Register | None, value: Value | Opaque) -> None:
    """Write a register of type i32 or i64; narrower data is extended with zeros."""
    assert register is not None
    size = BYTES[register.type]
    if isinstance(value, tuple):
        value = domain.merge([*value, *domain.zeros(size - domain.size(value))])
    elif isinstance(value, int | Linear):
        value = wrap(value, size)
    state.gpr[register.name] = value


def as_bytes(state: State, register: Register, size: int) -> Runs:
    """Return the low bytes of a register as data."""
    value = read(state, register)
    if isinstance(value, Truth):
        value = word(state, register)
    if isinstance(value, int):
        return domain.constant_runs((value % (1 << 8 * size)).to_bytes(size, "little"))
    if isinstance(value, tuple):
        return domain.cut(value, 0, size)
    raise Unsupported(f"{value} is used as data")


def vector(state: State, register: Register) -> Runs:
    return state.vectors[register.number]


def write_vector(state: State, register: Register | None, runs: Runs) -> None:
    assert register is not None
    state.vectors[register.number] = runs
