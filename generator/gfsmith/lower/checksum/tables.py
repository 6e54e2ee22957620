"""The constants of a checksum from its polynomial P (sympy).

Every P is taken times x^(64 - degree), so that registers of all checks have 64 bits. In a reflected check,
bit i of a word is the coefficient of x^(63-i), and the carry-less product of two such words is the
reflected product times x: the constants for a distance D are those of D - 1.
"""

from __future__ import annotations

from functools import cache

from gfsmith.field.checksum import Checksum
from gfsmith.ir.folding import DISTANCES, GROUP, LINE, NIBBLE, NIBBLES, WORD, Tables

#: Sets with crc32 instructions -> the checks that have one.
INSTRUCTIONS = {"sse42": ("CRC32C",), "crc": ("CRC32C", "CRC32")}

REGISTER = 64  #: bits
_LENGTHS = 64  #: bits of a length in bytes


class _Powers:
    """Polynomials modulo P x^shift, as coefficients from the highest on."""

    def __init__(self, check: Checksum, shift: int) -> None:
        from sympy import ZZ
        from sympy.polys import galoistools

        self._ring, self._tools = ZZ, galoistools
        self._modulus = self._dense(check.modulus << shift)

    def _dense(self, polynomial: int) -> list[int]:
        return [self._ring(int(digit)) for digit in f"{polynomial:b}"]

    def product(self, left: int, right: int) -> int:
        """Return a product of polynomials as numbers whose bit i is the coefficient of x^i."""
        whole = self._tools.gf_mul(self._dense(left), self._dense(right), 2, self._ring)
        rest = self._tools.gf_rem(whole, self._modulus, 2, self._ring)
        return sum(int(c) << i for i, c in enumerate(reversed(rest)))

    def quotient(self) -> int:
        """Return the quotient of x^128 by P."""
        power = [self._ring(1), *[self._ring(0)] * 2 * REGISTER]
        whole = self._tools.gf_quo(power, self._modulus, 2, self._ring)
        return sum(int(c) << i for i, c in enumerate(reversed(whole)))

    def multiples(self, first: int, factor: int, count: int) -> list[int]:
        """Return first, first factor, first factor^2, ..."""
        values = [first]
        for _ in range(count - 1):
            values.append(self.product(values[-1], factor))
        return values

    def squares(self, first: int, count: int) -> list[int]:
        """Return first, first^2, first^4, ..."""
        values = [first]
        for _ in range(count - 1):
            values.append(self.product(values[-1], values[-1]))
        return values


_X = 2  #: the polynomial x


def _number(check: Checksum, polynomial: int) -> int:
    """Return a polynomial of degree below 64 as a word in the order of the check."""
    return int(f"{polynomial:064b}"[::-1], 2) if check.reflected else polynomial


def _folds(check: Checksum, powers: _Powers) -> tuple[tuple[int, int], ...]:
    """Return the constants of both words of a group for every distance D in bits: x^D and x^(D+64), or in a
    reflected check x^(D+63) and x^(D-1). The distances are 128, 256, ..."""
    half = 1 << REGISTER - 1  # x^63
    top = powers.product(half, _X)
    low = powers.product(top, half if check.reflected else top)
    folds = []
    for _ in DISTANCES:
        pair = _number(check, low), _number(check, powers.product(low, top))
        folds.append(pair[::-1] if check.reflected else pair)
        low = powers.product(low, low)
        if check.reflected:
            low = powers.product(low, _X)  # x^(2D-1)
    return tuple(folds)


def _lanes(check: Checksum, powers: _Powers) -> tuple[tuple[int, int], ...]:
    """Return the constants of both words of each group of a line. With D bits behind it they are x^(D+64) and
    x^(D+128), or in a reflected check x^(D+127) and x^(D+63)."""
    half = 1 << REGISTER - 1  # x^63
    top = powers.product(half, _X)
    lows = powers.multiples(half if check.reflected else top, powers.product(top, top), LINE // GROUP)
    pairs = [(_number(check, low), _number(check, powers.product(low, top))) for low in reversed(lows)]
    return tuple(pair[::-1] if check.reflected else pair for pair in pairs)


def _slices(check: Checksum, powers: _Powers) -> tuple[tuple[int, ...], ...]:
    """Return the tables of all nibbles. The coefficient of x^i of a word contributes x^(64+i)."""
    terms = powers.multiples(powers.product(1 << REGISTER - 1, _X), _X, REGISTER)
    bits = [_number(check, term) for term in (reversed(terms) if check.reflected else terms)]
    slices = []
    for nibble in range(NIBBLES):
        entries = [0]
        for bit in bits[nibble * NIBBLE : (nibble + 1) * NIBBLE]:
            entries += [entry ^ bit for entry in entries]
        slices.append(tuple(entries))
    return tuple(slices)


def _reduction(check: Checksum, powers: _Powers, modulus: int) -> tuple[int, int]:
    """Return the constants of the reduction of a group."""
    quotient = powers.quotient()
    if check.reflected:
        return _number(check, quotient >> 1), modulus
    return modulus, quotient ^ 1 << REGISTER


@cache
def tables(check: Checksum) -> Tables:
    aligned = _Powers(check, REGISTER - check.degree)
    modulus = _number(check, check.polynomial << REGISTER - check.degree)
    instructed = any(check.name in checks for checks in INSTRUCTIONS.values())
    lengths = tuple(_Powers(check, 0).squares(1 << WORD, _LENGTHS))
    return Tables(
        title=check.title,
        bits=check.degree,
        reflected=check.reflected,
        ones=check.ones,
        modulus=modulus,
        instruction=check.name if instructed else "",
        reduction=_reduction(check, aligned, modulus),
        folds=_folds(check, aligned),
        lanes=_lanes(check, aligned),
        slices=_slices(check, aligned),
        powers=lengths,
    )
