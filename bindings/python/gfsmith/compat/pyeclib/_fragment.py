"""Fragments of liberasurecode: a header of 80 bytes, then the payload.

The header's layout is in liberasurecode's erasurecode.h: the metadata (59 bytes), a magic number, the version
of the library that wrote it, the checksum of the metadata, and padding. Numbers are little endian.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

VERSION = 0x010602  #: of liberasurecode, whose fragments these are
HEADER = 80
METADATA = 59
_MAGIC = 0x0B0C5ECC
_FIRST_WITH_CHECKSUM = 0x010200  #: older versions do not check their metadata
_TRAILER = struct.Struct("<III9x")

NONE, CRC32, MD5 = 1, 2, 3
_CHECKSUMS = {NONE: ("none", 0), CRC32: ("crc32", 4), MD5: ("md5", 16)}  #: name, and number of bytes


@cache
def _old_table() -> list[int]:
    """Return the table of CRC-32 as signed numbers."""
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0xEDB88320 if value & 1 else 0)
        table.append(value - (value >> 31 << 32))
    return table


def _old_crc(data: bytes | memoryview) -> int:
    """Return the checksum of liberasurecode before 1.6: CRC-32 whose shifts repeat the sign."""
    table, crc = _old_table(), -1
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    return ~crc & 0xFFFFFFFF


def _matches(checksum: int, data: bytes | memoryview) -> bool:
    return checksum == zlib.crc32(data) or checksum == _old_crc(data)


@dataclass(frozen=True, slots=True)
class Metadata:
    """The metadata of a fragment, in the order of the header."""

    index: int
    size: int  #: bytes of the payload
    extra: int  #: bytes that a backend adds: none of these does
    whole: int  #: bytes of the encoded data
    checksum_type: int
    checksum: bytes
    mismatch: int
    backend: int
    backend_version: int

    FORMAT: ClassVar = struct.Struct("<IIIQB32sBBI")

    @classmethod
    def parse(cls, data: bytes) -> Metadata:
        """Read METADATA bytes."""
        return cls(*cls.FORMAT.unpack(data))

    def packed(self) -> bytes:
        """Return the METADATA bytes."""
        return self.FORMAT.pack(
            *(self.index, self.size, self.extra, self.whole, self.checksum_type),
            *(self.checksum, self.mismatch, self.backend, self.backend_version),
        )

    def formatted(self, names: dict[int, str]) -> dict[str, int | str]:
        """Return PyECLib's readable form. names: the backends by number."""
        name, length = _CHECKSUMS.get(self.checksum_type, ("unknown", 0))
        return {
            "index": self.index,
            "size": self.size,
            "orig_data_size": self.whole,
            "chksum_type": name,
            "chksum": self.checksum[:length].hex(),
            "chksum_mismatch": self.mismatch,
            "backend_id": names.get(self.backend, "unknown"),
            "backend_version": self.backend_version,
        }


@dataclass(frozen=True, slots=True)
class Fragment:
    """A fragment that was read: its metadata is intact."""

    metadata: Metadata
    version: int
    payload: memoryview

    @classmethod
    def parse(cls, data: bytes) -> Fragment | None:
        """Read a fragment; None if its header is damaged or of something else."""
        if len(data) < HEADER:
            return None
        magic, version, checksum = _TRAILER.unpack_from(data, METADATA)
        if magic != _MAGIC or version == 0:
            return None
        if version >= _FIRST_WITH_CHECKSUM and not _matches(checksum, data[:METADATA]):
            return None
        return cls(Metadata.parse(data[:METADATA]), version, memoryview(data)[HEADER:])

    @property
    def complete(self) -> bool:
        """True if the payload has the length that the metadata states."""
        return len(self.payload) == self.metadata.size

    @property
    def intact(self) -> bool:
        """True if the payload matches its checksum, or has none."""
        if self.metadata.checksum_type != CRC32:
            return True
        return self.complete and _matches(int.from_bytes(self.metadata.checksum[:4], "little"), self.payload)


def made(metadata: Metadata, payload: bytes | bytearray | memoryview) -> bytes:
    """Return a fragment as bytes."""
    first = metadata.packed()
    return b"".join((first, _TRAILER.pack(_MAGIC, VERSION, zlib.crc32(first)), payload))


def checksum_of(kind: int, payload: bytes | bytearray | memoryview) -> bytes:
    """Return the field with a payload's checksum."""
    return zlib.crc32(payload).to_bytes(4, "little").ljust(32, b"\0") if kind == CRC32 else bytes(32)
