"""The place of each number in the tables of a check: struct gfs_crc of runtime/core/src/crc.h, in little
endian order."""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct

from gfsmith.ir.folding import DISTANCES, GROUP, LINE, NIBBLE, NIBBLES, WORD, Tables

_ENTRIES = 1 << NIBBLE
_LENGTHS = 64
_HEAD = Struct("<QQIII4x2Q")  #: ones, modulus, bits, order, instruction, reduction
#: enum gfs_crc_instruction
_INSTRUCTIONS = ("", "CRC32C", "CRC32")
_GROUPS = LINE // GROUP
_PADDING = -(_HEAD.size + GROUP * len(DISTANCES)) % LINE
_NUMBERS = Struct(f"<{2 * len(DISTANCES)}Q {_PADDING}x {2 * _GROUPS}Q {NIBBLES * _ENTRIES}Q {_LENGTHS}Q")

ONES = 0  #: the place of the first register
FOLDS = _HEAD.size  #: the place of the constants of the first distance
LANES = FOLDS + GROUP * len(DISTANCES) + _PADDING  #: the place of those of the first group of a line
REDUCTION = FOLDS - 2 * WORD  #: the place of the constants of the reduction
SIZE = _HEAD.size + _NUMBERS.size


def read(data: bytes, title: str) -> Tables:
    """Return the tables of which these are the bytes."""
    ones, modulus, bits, order, instruction, *reduction = _HEAD.unpack_from(data)
    numbers = iter(_NUMBERS.unpack_from(data, _HEAD.size))
    return Tables(
        title=title,
        bits=bits,
        reflected=bool(order),
        ones=ones,
        modulus=modulus,
        instruction=_INSTRUCTIONS[instruction],
        reduction=(reduction[0], reduction[1]),
        folds=tuple((next(numbers), next(numbers)) for _ in DISTANCES),
        lanes=tuple((next(numbers), next(numbers)) for _ in range(_GROUPS)),
        slices=tuple(_taken(numbers, _ENTRIES) for _ in range(NIBBLES)),
        powers=_taken(numbers, _LENGTHS),
    )


def _taken(numbers: Iterator[int], count: int) -> tuple[int, ...]:
    return tuple(next(numbers) for _ in range(count))
