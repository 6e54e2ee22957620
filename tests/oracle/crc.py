"""CRCs byte by byte with a table of 256 entries, for many rows of bytes at a time (D. V. Sarwate,
"Computation of cyclic redundancy checks via table look-up", 1988). The parameters are those of the catalogue
of parametrised CRC algorithms (G. Cook)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import numpy as np
from numpy.typing import NDArray

#: Name -> bits, polynomial without its highest term, whether bits are reflected, first register and last XOR.
CRCS = {
    "CRC32C": (32, 0x1EDC6F41, True, 0xFFFFFFFF),
    "CRC32": (32, 0x04C11DB7, True, 0xFFFFFFFF),
    "CRC64_NVME": (64, 0xAD93D23594C93659, True, 0xFFFFFFFFFFFFFFFF),
    "CRC64_ECMA": (64, 0x42F0E1EBA9EA3693, True, 0xFFFFFFFFFFFFFFFF),
    "CRC64_ISO": (64, 0x000000000000001B, True, 0xFFFFFFFFFFFFFFFF),
    "CRC16_T10": (16, 0x8BB7, False, 0),
}


@cache
def _table(name: str) -> NDArray[np.uint64]:
    """Return the register after each byte from register 0."""
    bits, polynomial, reflected, _ = CRCS[name]
    mirrored = int(f"{polynomial:0{bits}b}"[::-1], 2)
    entries = []
    for byte in range(256):
        register = byte if reflected else byte << bits - 8
        for _ in range(8):
            if reflected:
                register = register >> 1 ^ (mirrored if register & 1 else 0)
            else:
                register = (register << 1 ^ (polynomial if register >> bits - 1 else 0)) & (1 << bits) - 1
        entries.append(register)
    return np.array(entries, dtype=np.uint64)


def checksums(name: str, rows: NDArray[np.uint8], states: Iterable[int]) -> list[int]:
    """Return the checksum of every row, continued from a state each."""
    bits, _, reflected, ones = CRCS[name]
    table, byte, mask = _table(name), np.uint64(255), np.uint64((1 << bits) - 1)
    eight, top = np.uint64(8), np.uint64(bits - 8)
    register = np.array(list(states), dtype=np.uint64) ^ np.uint64(ones)
    for column in rows.T.astype(np.uint64):
        if reflected:
            register = register >> eight ^ table[(register ^ column) & byte]
        else:
            register = register << eight & mask ^ table[register >> top & byte ^ column]
    return [int(value) for value in register ^ np.uint64(ones)]
