"""Reading and writing an instruction's operands."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from gfsmith.prove.machine import domain, modular
from gfsmith.prove.machine.aarch64.decode import Decoded, General, Immediate, Operand, Place, Vector
from gfsmith.prove.machine.aarch64.registers import STACK_ALIGNMENT, VECTOR_BYTES
from gfsmith.prove.machine.architecture import move_stack
from gfsmith.prove.machine.domain import Runs, Unsupported
from gfsmith.prove.machine.linear import Linear, Word, add, scale
from gfsmith.prove.machine.modular import signed
from gfsmith.prove.machine.register_values import narrow
from gfsmith.prove.machine.state import Condition, Opaque, State, Value, constant_bytes

Semantics = Callable[[State, Decoded], None]

SPAN = 1 << 64
_losses = count()
#: Of a subtraction's flags; carry clear means that it borrows.
CONDITIONS = {
    "lo": Condition.BELOW,
    "hs": Condition.NOT_BELOW,
    "ls": Condition.NOT_ABOVE,
    "hi": Condition.ABOVE,
    "eq": Condition.EQUAL,
    "ne": Condition.NOT_EQUAL,
    "lt": Condition.LESS,
    "ge": Condition.NOT_LESS,
    "le": Condition.NOT_GREATER,
    "gt": Condition.GREATER,
    "mi": Condition.NEGATIVE,
    "pl": Condition.NOT_NEGATIVE,
}


def general(operand: Operand) -> General:
    if not isinstance(operand, General):
        raise Unsupported(f"{operand} is no general register")
    return operand


def vector(operand: Operand) -> Vector:
    if not isinstance(operand, Vector):
        raise Unsupported(f"{operand} is no vector register")
    return operand


def immediate(operand: Operand) -> int:
    if not isinstance(operand, Immediate):
        raise Unsupported(f"{operand} is no immediate")
    return operand.value


def read(state: State, register: General) -> Value | Opaque:
    """The bytes of a general register that are meant, without the shift."""
    if register.name == "zr":
        return 0
    return narrow(state, state.gpr[register.name], register.size)


def write(state: State, register: General, value: Value | Opaque) -> None:
    """Write a general register: a write of fewer than 64 bits clears the upper bits."""
    if register.name == "zr":
        return
    if isinstance(value, tuple):
        have = min(domain.size(value), register.size)
        value = domain.merge([*domain.cut(value, 0, have), *domain.zeros(8 - have)])
    elif isinstance(value, int):
        value %= 1 << 8 * register.size
    elif isinstance(value, Linear) and register.size < 8:
        value = narrow(state, value, register.size)
    state.gpr[register.name] = value


def word(state: State, operand: Operand, instr: Decoded) -> Word:
    """Return an operand as a number or an address.

    Raises Refutation if the operand holds data: a later branch or address could leak it by timing.
    """
    if isinstance(operand, Immediate):
        return operand.value
    register = general(operand)
    value = read(state, register)
    if isinstance(value, tuple):
        try:
            value = int.from_bytes(constant_bytes(value), "little")
        except Unsupported:
            reason = f"{instr} computes with data or junk: it could decide a branch"
            raise domain.refutation(value, reason) from None
    if isinstance(value, Opaque):
        raise Unsupported(f"arithmetic on {value}")
    if register.shift:
        value = wrap(scale(value, 1 << register.shift), 8 if register.extended else register.size)
    return value


def number(state: State, operand: Operand, instr: Decoded) -> int:
    """An operand as a plain number, not negative."""
    value = word(state, operand, instr)
    if not isinstance(value, int):
        raise Unsupported(f"{instr} on {value}")
    return value % SPAN


def wrap(value: Word, size: int) -> Word:
    """Return a result modulo 2^(8 size). An expression of less than 8 bytes stays as it is."""
    return value if size < 8 and not isinstance(value, int) else modular.wrap(value, size)


def total(left: Word, right: Word, size: int) -> Word:
    """Return left + right modulo 2^(8 size)."""
    return wrap(add(left, right), size)


def place(state: State, operand: Operand, instr: Decoded) -> Word:
    """The address of a memory operand; moves the base where that comes before the access."""
    if not isinstance(operand, Place):
        raise Unsupported(f"{operand} is no memory")
    if operand.before:
        _move(state, operand.base, operand.before)
    base = state.word(operand.base.name)
    if operand.offset is not None:
        offset = word(state, operand.offset, instr)
        base = total(base, signed(offset) if isinstance(offset, int) else offset, 8)
    return total(base, operand.displacement, 8)


def after(state: State, operand: Operand) -> None:
    """Moves the base of a memory operand where that comes after the access."""
    if isinstance(operand, Place) and operand.after:
        _move(state, operand.base, operand.after)


def _move(state: State, base: General, by: int) -> None:
    state.gpr[base.name] = total(state.word(base.name), by, 8)
    if base.name == "sp":
        move_stack(state, "sp", STACK_ALIGNMENT)


def as_bytes(value: Value | Opaque, size: int) -> Runs:
    """The low bytes of a general register as data."""
    if isinstance(value, int):
        return domain.constant_runs((value % (1 << 8 * size)).to_bytes(size, "little"))
    if isinstance(value, tuple):
        return domain.cut(value, 0, size)
    raise Unsupported(f"{value} is used as data")


def vector_bytes(state: State) -> int:
    """The bytes of a vector register: more than 16 if it is scalable."""
    return domain.size(state.vectors[0])


def read_vector(state: State, operand: Operand) -> Runs:
    """The bytes of a vector register that are meant, or one of its elements."""
    register = vector(operand)
    low, high = 0, register.size
    if register.lane is not None:
        low = register.lane * register.element
        high = low + register.element
    return domain.cut(state.vectors[register.number], low, high)


def write_vector(state: State, operand: Operand, runs: Runs) -> None:
    """Write a vector register, clearing the rest, or one of its elements, leaving the others.

    A write of an element leaves the bytes behind the first 16 unknown: the architecture clears them, and qemu
    7.2 keeps them after ld1.
    """
    register = vector(operand)
    if register.lane is None:
        rest = domain.zeros(vector_bytes(state) - domain.size(runs))
        state.vectors[register.number] = domain.merge([*runs, *rest]) if rest else runs
        return
    old = state.vectors[register.number]
    low = register.lane * register.element
    behind = domain.cut(old, low + register.element, VECTOR_BYTES)
    state.vectors[register.number] = domain.merge(
        [*domain.cut(old, 0, low), *runs, *behind, *_lost(vector_bytes(state) - VECTOR_BYTES)]
    )


def _lost(size: int) -> Runs:
    """Return unknown bytes."""
    return ((size, domain.variable("lost", next(_losses), 0)),) if size else ()
