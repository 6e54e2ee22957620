"""Sets of PAR2 2.0: a second implementation, written after the specification and without a table."""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd

MAGIC = b"PAR2\0PKT"
MAIN, DESCRIPTION, CHECKSUMS, RECOVERY, CREATOR = (
    b"PAR 2.0\0" + name.ljust(8, b"\0") for name in (b"Main", b"FileDesc", b"IFSC", b"RecvSlic", b"Creator")
)
HEADER = struct.Struct("<8sQ16s16s16s")
POLYNOMIAL, ORDER = 0x1100B, 65535


def md5(data: bytes) -> bytes:
    return hashlib.md5(data).digest()


def multiply(a: int, b: int) -> int:
    """Return the product in GF(2^16)."""
    product = 0
    for bit in range(16):
        if b >> bit & 1:
            product ^= a << bit
    for bit in range(30, 15, -1):
        if product >> bit & 1:
            product ^= POLYNOMIAL << (bit - 16)
    return product


def power(base: int, exponent: int) -> int:
    result = 1
    while exponent:
        if exponent & 1:
            result = multiply(result, base)
        base = multiply(base, base)
        exponent >>= 1
    return result


def constants(count: int) -> list[int]:
    """Return the constants of the first blocks: powers of 2 of order 65535."""
    logs = [n for n in range(3 * count + 10) if gcd(n, ORDER) == 1]
    return [power(2, n) for n in logs[:count]]


def packet(set_id: bytes, kind: bytes, body: bytes, length: int | None = None) -> bytes:
    """Return a packet with a correct hash; length: another one than that of the packet."""
    signed = set_id + kind + body
    size = 32 + len(signed) if length is None else length
    return MAGIC + struct.pack("<Q", size) + md5(signed) + signed


@dataclass(frozen=True, slots=True)
class Packet:
    set_id: bytes
    kind: bytes
    body: bytes


def packets(data: bytes) -> list[Packet]:
    """Return the packets of an undamaged file."""
    found = []
    while data:
        magic, length, digest, set_id, kind = HEADER.unpack_from(data)
        assert magic == MAGIC and length % 4 == 0 and 64 <= length <= len(data)
        assert digest == md5(data[32:length])
        found.append(Packet(set_id, kind, data[64:length]))
        data = data[length:]
    return found


def padded(data: bytes, unit: int) -> bytes:
    return data + bytes(-len(data) % unit)


@dataclass(slots=True)
class Par2:
    """A set of files. Tests change its parts to make sets that are wrong."""

    files: Mapping[bytes, bytes]
    block: int
    exponents: Sequence[int]
    listed: Mapping[bytes, bytes] = field(default_factory=dict)
    """Files without recovery blocks."""
    names: list[bytes] = field(init=False)
    set_id: bytes = field(init=False)

    def __post_init__(self) -> None:
        self.names = sorted(self.files, key=lambda name: int.from_bytes(self.file_id(name), "little"))
        self.set_id = md5(self.main())

    def data(self, name: bytes) -> bytes:
        return self.files[name] if name in self.files else self.listed[name]

    def file_id(self, name: bytes) -> bytes:
        data = self.data(name)
        return md5(md5(data[:16384]) + struct.pack("<Q", len(data)) + name)

    def main(self) -> bytes:
        ids = [self.file_id(name) for name in (*self.names, *self.listed)]
        return struct.pack("<QI", self.block, len(self.names)) + b"".join(ids)

    def blocks_of(self, name: bytes) -> list[bytes]:
        data = self.files[name]
        return [padded(data[at : at + self.block], self.block) for at in range(0, len(data), self.block)]

    def blocks(self) -> list[bytes]:
        return [block for name in self.names for block in self.blocks_of(name)]

    def description(self, name: bytes) -> bytes:
        data = self.data(name)
        head = self.file_id(name) + md5(data) + md5(data[:16384]) + struct.pack("<Q", len(data))
        return head + padded(name, 4)

    def checksums(self, name: bytes) -> bytes:
        sums = (md5(block) + struct.pack("<I", zlib.crc32(block)) for block in self.blocks_of(name))
        return self.file_id(name) + b"".join(sums)

    def recovery(self, exponent: int) -> bytes:
        blocks = self.blocks()
        words = [0] * (self.block // 2)
        for block, constant in zip(blocks, constants(len(blocks)), strict=True):
            factor = power(constant, exponent)
            for n, word in enumerate(struct.unpack(f"<{len(words)}H", block)):
                words[n] ^= multiply(factor, word)
        return struct.pack("<I", exponent) + struct.pack(f"<{len(words)}H", *words)

    def bodies(self) -> list[tuple[bytes, bytes]]:
        """Return kind and body of each packet."""
        return [
            (MAIN, self.main()),
            *((DESCRIPTION, self.description(name)) for name in (*self.names, *self.listed)),
            *((CHECKSUMS, self.checksums(name)) for name in self.names),
            *((RECOVERY, self.recovery(exponent)) for exponent in self.exponents),
            (CREATOR, b"oracle\0\0"),
        ]

    def packets(self) -> list[bytes]:
        return [packet(self.set_id, kind, body) for kind, body in self.bodies()]
