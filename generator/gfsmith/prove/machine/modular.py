"""Numbers modulo 2^(8 size), as registers hold them."""

from __future__ import annotations

from gfsmith.prove.machine.linear import Word, add, make


def signed(value: int, size: int = 8) -> int:
    """Return the congruent number nearest to 0, from -2^(8 size - 1) on."""
    half = 1 << 8 * size - 1
    return (value + half) % (2 * half) - half


def nearest(value: Word, size: int = 8) -> Word:
    """Return a number that is added to an unknown, nearest to 0."""
    return signed(value, size) if isinstance(value, int) else value


def wrap(value: Word, size: int = 8) -> Word:
    """Return a congruent number.

    A number becomes non-negative. The constant and the factors of an expression with unknowns become the
    representatives nearest to 0.
    """
    if isinstance(value, int):
        return value % (1 << 8 * size)
    return make(signed(value.constant, size), {s: signed(c, size) for s, c in value.terms})


def total(left: Word, right: Word, size: int = 8) -> Word:
    """Return left + right."""
    return wrap(add(left, right), size)
