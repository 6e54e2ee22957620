"""Encoding of one string instead of k blocks, as zfec.easyfec."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from gfsmith.compat.zfec import _fec

if TYPE_CHECKING:
    from typing_extensions import Buffer


class Encoder:
    """Cuts a string into k blocks, and encodes them into m."""

    def __init__(self, k: int, m: int) -> None:
        self.fec = _fec.Encoder(k, m)

    def encode(self, data: bytes | bytearray) -> list[Any]:
        """Return m blocks, any k of which determine the data. The last primary ones are padded with zeros."""
        k = self.fec.k
        size = -(-len(data) // k)
        primary = [data[i * size : (i + 1) * size] for i in range(k)]
        return self.fec.encode([block + bytes(size - len(block)) for block in primary])


class Decoder:
    """Decodes the string from any k blocks."""

    def __init__(self, k: int, m: int) -> None:
        self.fec = _fec.Decoder(k, m)

    def decode(self, blocks: Iterable[Buffer], sharenums: Iterable[int], padlen: int) -> bytes:
        """Return the data. padlen: the number of bytes of padding, k times the block size less the size of
        the data. Raises Error also for a number that is negative or greater than that of all bytes.
        """
        data = b"".join(self.fec.decode(blocks, sharenums))
        if not padlen:
            return data
        if not 0 <= padlen <= len(data):
            raise _fec.Error(f"Precondition violation: padlen must be 0 to {len(data)}, but it was {padlen}")
        return data[: len(data) - padlen]
