"""Values of general registers: extraction of parts and composition from parts."""

from __future__ import annotations

from gfsmith.prove.machine import domain
from gfsmith.prove.machine.domain import Runs, Unsupported
from gfsmith.prove.machine.linear import Linear, Word, make
from gfsmith.prove.machine.state import Opaque, State, Value


def narrow(state: State, value: Value | Opaque, size: int) -> Value | Opaque:
    """Return the low `size` bytes."""
    if size == 8 or isinstance(value, Opaque):
        if size != 8:
            raise Unsupported(f"part of {value}")
        return value
    if isinstance(value, int):
        return value % (1 << 8 * size)
    if isinstance(value, tuple):
        return domain.cut(value, 0, size)
    value = _low_part(value, size)
    low, high = state.facts.range(value)
    if low < 0 or high >= 1 << 8 * size:
        raise Unsupported(f"{value} is cut to {size} bytes")
    return value


def _low_part(value: Linear, size: int) -> Word:
    """Return a number without its terms that are multiples of 2^(8 size)."""
    span = 1 << 8 * size
    return make(value.constant, {name: factor for name, factor in value.terms if factor % span})


def as_bytes(state: State, value: Value | Opaque, size: int) -> Runs:
    """Return the value of a general register as data."""
    if isinstance(value, int):
        return domain.constant_runs((value % (1 << 8 * size)).to_bytes(size, "little"))
    if isinstance(value, tuple):
        return domain.cut(value, 0, size)
    raise Unsupported(f"{value} is used as data")


def wrap(value: Word, size: int) -> Word:
    return value % (1 << 8 * size) if isinstance(value, int) else value


def checked(state: State, value: Word, size: int) -> Word:
    """Return a sum or difference. A result narrower than 64 bits must fit; the facts bound other results."""
    if isinstance(value, int):
        return value % (1 << 8 * size)
    if size != 8:
        low, high = state.facts.range(value)
        if low < 0 or high >= 1 << 8 * size:
            raise Unsupported(f"{size}-byte arithmetic on {value}")
    return value
