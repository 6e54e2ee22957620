"""Cyclic redundancy checks as their standards define them: the reference for all other code.

A message is a sequence of bits, the coefficients of a polynomial M over GF(2) from the highest on. With P of
degree n, the register after M is

    (M x^n + S x^len) mod P,    S the register before M, len the number of bits of M.

A reflected check takes the lowest bit of each byte first, and its register is a number whose lowest bit is
the coefficient of x^(n-1). Any other check takes the highest bit of each byte first, and bit i of its
register is the coefficient of x^i.

The first register is `ones`, and a checksum is the register XOR `ones`. So the checksum of no bytes is 0, and
a checksum is a state from which the next piece continues.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self, TypeVar

BYTE = 8


@dataclass(frozen=True, slots=True)
class Checksum:
    """A check. name: in the C interface. title: the usual name. polynomial: P without x^degree, bit i the
    coefficient of x^i. ones: the first register and the final XOR, as a number."""

    name: str
    title: str
    degree: int
    polynomial: int
    reflected: bool
    ones: int

    @property
    def modulus(self) -> int:
        """P with all of its terms."""
        return 1 << self.degree | self.polynomial

    def bits(self, byte: Sequence[_B]) -> list[_B]:
        """Return the eight bits of a byte, given from bit 0 on, in the order of the message."""
        return list(byte) if self.reflected else list(reversed(byte))

    def register(self, number: Sequence[_B]) -> list[_B]:
        """Return the coefficients x^0, x^1, ... of a register, given as a number's bits from bit 0 on."""
        return list(reversed(number)) if self.reflected else list(number)


def _all(bits: int) -> int:
    return (1 << bits) - 1


#: Every check, in the order of enum gfsmith_checksum: RFC 3720; IEEE 802.3; NVM Express, NVM command set;
#: ECMA-182, reflected as in .xz; ISO 3309, reflected as in Go's hash/crc64; T10, SBC-3.
CHECKSUMS = (
    Checksum("CRC32C", "CRC-32C (Castagnoli)", 32, 0x1EDC6F41, True, _all(32)),
    Checksum("CRC32", "CRC-32 (IEEE 802.3)", 32, 0x04C11DB7, True, _all(32)),
    Checksum("CRC64_NVME", "CRC-64/NVME", 64, 0xAD93D23594C93659, True, _all(64)),
    Checksum("CRC64_ECMA", "CRC-64/XZ (ECMA-182)", 64, 0x42F0E1EBA9EA3693, True, _all(64)),
    Checksum("CRC64_ISO", "CRC-64/GO-ISO", 64, 0x1B, True, _all(64)),
    Checksum("CRC16_T10", "CRC-16/T10-DIF", 16, 0x8BB7, False, 0),
)


def _normal(check: Checksum, title: str) -> Checksum:
    """Return the check of the same polynomial with the highest bit of a byte first."""
    return replace(check, name=f"{check.name}_NORMAL", title=title, reflected=False)


_, _CRC32, _NVME, _ECMA, _ISO, _ = CHECKSUMS
_JONES = Checksum("CRC64_JONES", "CRC-64 (Jones)", 64, 0xAD93D23594C935A9, True, _all(64))

#: The other checks of ISA-L's crc.h and crc64.h, in the order of runtime/isal/src/crc.c.
ISAL_CHECKSUMS = (
    _normal(_CRC32, "CRC-32 (IEEE 802.3), normal"),
    _normal(_ECMA, "CRC-64/WE (ECMA-182), normal"),
    _normal(_ISO, "CRC-64 (ISO 3309), normal"),
    _JONES,
    _normal(_JONES, "CRC-64 (Jones), normal"),
    _normal(_NVME, "CRC-64/NVME, normal"),
)


class Bit(Protocol):
    """An element of GF(2), or anything that is added like one: a linear form, an unknown."""

    def __xor__(self, other: Self, /) -> Self: ...


_B = TypeVar("_B")
_X = TypeVar("_X", bound=Bit)


def after(check: Checksum, register: Sequence[_X], bits: Sequence[_X], zero: _X) -> list[_X]:
    """Return the register after `bits` by the definition, long division bit by bit. Registers are lists of
    coefficients, x^0 first."""
    state = list(register)
    terms = [i for i in range(check.degree) if check.polynomial >> i & 1]
    for bit in bits:
        top = state.pop() ^ bit
        state.insert(0, zero)
        for i in terms:
            state[i] = state[i] ^ top
    return state


def checksum(check: Checksum, data: bytes) -> int:
    """Return the check of some bytes, by the definition."""
    ones = [check.ones >> i & 1 for i in range(check.degree)]
    bits = [bit for byte in data for bit in check.bits([byte >> i & 1 for i in range(BYTE)])]
    end = check.register(after(check, check.register(ones), bits, 0))
    return sum(bit << i for i, bit in enumerate(end)) ^ check.ones
