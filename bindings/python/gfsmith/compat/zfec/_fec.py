"""Encoder and Decoder of zfec: its checks with its messages, and checks where zfec has none."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from gfsmith.compat.zfec import _codes

if TYPE_CHECKING:
    from typing_extensions import Buffer

_PRECONDITION = "Precondition violation: "


class Error(Exception):
    """Arguments that do not fit: numbers, lengths or counts."""


class _Shape:
    """k blocks determine all m blocks; 1 <= k <= m <= 256."""

    def __init__(self, k: int, m: int) -> None:
        k, m = operator.index(k), operator.index(m)
        if k < 1:
            _refuse(f"first argument is required to be greater than or equal to 1, but it was {k}")
        if m < 1:
            _refuse(f"second argument is required to be greater than or equal to 1, but it was {m}")
        if m > _codes.MOST_BLOCKS:
            _refuse(f"second argument is required to be less than or equal to 256, but it was {m}")
        if k > m:
            _refuse(
                "first argument is required to be less than or equal to the second argument, "
                f"but they were {k} and {m} respectively"
            )
        self._k, self._m = k, m
        self._every = range(m)
        self._code = _codes.of_shape(k, m)

    @property
    def k(self) -> int:
        """The number of blocks that determine the others."""
        return self._k

    @property
    def m(self) -> int:
        """The number of all blocks."""
        return self._m


class Encoder(_Shape):
    """Encodes k blocks into m."""

    def encode(
        self, inblocks: Iterable[Buffer], desired_blocks_nums: Iterable[int] | None = None, /
    ) -> list[Any]:
        """Return the blocks with the given numbers, or all m of them.

        inblocks: the k primary blocks, of equal length. Primary blocks of the result are these objects, the
        others are bytes. Raises Error, TypeError (no sequence, or no buffers).
        """
        if desired_blocks_nums is None and isinstance(inblocks, (list, tuple)):
            inblocks = tuple(inblocks)
            secondary_blocks = self._code.secondary(inblocks)
            if secondary_blocks is not None:
                return [*inblocks, *secondary_blocks]
        k = self._k
        wanted: Sequence[int] = self._every
        if desired_blocks_nums is not None:
            wanted = _sequence(desired_blocks_nums, "Second argument (optional) was not a sequence.")
            self._check_wanted(wanted)
        primary = _sequence(inblocks, "First argument was not a sequence.")
        if len(primary) != k:
            _refuse(
                "Wrong length -- first argument (the sequence of input blocks) is required to contain "
                f"exactly k blocks.  len(first): {len(primary)}, k: {k}"
            )
        made: dict[int, Any] = dict(enumerate(primary))
        known = dict(enumerate(_views(primary, "")))
        secondary = sorted({number for number in wanted if number >= k})
        if secondary:
            made |= self._code.blocks(known, secondary)
        return [made[number] for number in wanted]

    def _check_wanted(self, wanted: Sequence[int]) -> None:
        for number in wanted:
            _check_integer(number)
            if not 0 <= number < self.m:
                _refuse(f"block nums must be 0 to {self.m - 1}, but one was {number}")


class Decoder(_Shape):
    """Decodes the k primary blocks from any k blocks."""

    def decode(self, blocks: Iterable[Buffer], blocknums: Iterable[int], /) -> list[Any]:
        """Return the k primary blocks in order.

        blocks: k blocks of equal length. blocknums: their numbers, all different. Primary blocks among them
        are returned as these objects, the others as bytes. Raises Error, TypeError (no sequence, no buffers).
        """
        given = _sequence(blocks, "First argument was not a sequence.")
        numbers = _sequence(blocknums, "Second argument was not a sequence.")
        data = self._code.primary(given, numbers)
        if data is not None:
            return data
        self._check_count(len(given), "first argument", "first")
        self._check_count(len(numbers), "blocknums", "blocknums")
        self._check_numbers(numbers)
        known = dict(zip(numbers, _views(given, "\n"), strict=True))
        made: dict[int, Any] = dict(zip(numbers, given, strict=True))
        missing = [number for number in range(self._k) if number not in known]
        if missing:
            made |= self._code.blocks(known, missing)
        return [made[number] for number in range(self._k)]

    def _check_count(self, count: int, name: str, short: str) -> None:
        if count != self.k:
            _refuse(
                f"Wrong length -- {name} is required to contain exactly k blocks.  "
                f"len({short}): {count}, k: {self.k}"
            )

    def _check_numbers(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            _check_integer(number)
            if not 0 <= number <= 255:
                _refuse(f"block nums can't be less than zero or greater than 255.  {number}\n")
            if number >= self._m:
                _refuse(f"block nums must be 0 to {self._m - 1}, but one was {number}")
        for number in numbers if len(set(numbers)) < len(numbers) else ():
            if numbers.count(number) > 1:
                _refuse(f"block nums must all be different, but {number} was given twice")


def _refuse(message: str) -> None:
    raise Error(_PRECONDITION + message)


def _sequence(values: Iterable[Any], message: str) -> tuple[Any, ...]:
    try:
        iterator = iter(values)
    except TypeError:
        raise TypeError(message) from None
    return tuple(iterator)


def _check_integer(number: object) -> None:
    if not isinstance(number, int):
        _refuse("second argument is required to contain int.")


def _views(blocks: Iterable[Buffer], end: str) -> list[bytes | memoryview]:
    """Return the bytes of blocks of equal length. end: the end of zfec's message."""
    views = [block if type(block) is bytes else _view(block) for block in blocks]
    length = len(views[0])
    for view in views:
        if len(view) != length:
            _refuse(
                "Input blocks are required to be all the same length.  "
                f"length of one block was: {length}, length of another block was: {len(view)}{end}"
            )
    return views


def _view(block: Buffer) -> memoryview:
    b"".removeprefix(block)  # raises zfec's error for an object that is no buffer, or not contiguous
    return memoryview(block).cast("B")


def test_from_agl() -> bool:
    """zfec's check of itself: encode 3 blocks into 5, lose the first two, decode."""
    data = [bytes([value]) * 8 for value in (1, 2, 3)]
    parities = Encoder(3, 5).encode(data, (3, 4))
    return Decoder(3, 5).decode((*parities, data[2]), (3, 4, 2)) == data
