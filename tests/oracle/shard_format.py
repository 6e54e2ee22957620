"""Shard streams of version 2: a second implementation, written after docs/shard-format.md."""

from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass
from functools import cache

import numpy as np

from gfsmith.codes import parity_matrix
from gfsmith.codes.lrc import Lrc
from gfsmith.field.matrix import Matrix
from tests.oracle.codec import encode

MAGIC = bytes.fromhex("894746530d0a1a0a")
HEADER, PREFIX, TRAILER = 512, 32, 24
FIELDS = struct.Struct("<8sII16sQIIIIIIII32s256s136x")
RECORD = struct.Struct("<QII")
BLOCK, END = 1, 2


class _Hash(ctypes.Structure):
    _fields_ = (("low", ctypes.c_uint64), ("high", ctypes.c_uint64))


@cache
def _function() -> ctypes._NamedFuncPointer:
    function = ctypes.CDLL("libxxhash.so.0").XXH3_128bits_withSeed
    function.restype = _Hash
    function.argtypes = (ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64)
    return function


def xxh3_128(data: bytes, seed: int = 0) -> bytes:
    """Return XXH3-128 in canonical form: big-endian."""
    value = _function()(data, len(data), seed)
    return struct.pack(">QQ", value.high, value.low)


@dataclass(frozen=True, slots=True)
class Shape:
    """Parameters of a set: the fields that all of its headers share."""

    code: str
    k: int
    m: int
    block: int
    l: int = 0  # noqa: E741  # the name in the format
    generation: int = 1
    content: int = 0
    name: bytes = b"file"
    set_id: bytes = bytes(range(16))

    @property
    def parity(self) -> Matrix:
        if self.code == "lrc":
            return Lrc(self.k, self.l, self.m - self.l).parity()
        return parity_matrix(self.code, self.k, self.m)


def header(form: Shape, index: int) -> bytes:
    fields = FIELDS.pack(
        *(MAGIC, 2, HEADER, form.set_id, form.generation, index, form.content, 0x11D),
        *(form.k, form.m, form.l, form.block, 0, form.code.encode(), form.name),
    )
    assert len(fields) == HEADER - 16
    return fields + xxh3_128(fields)


def tag(raw: bytes) -> int:
    return int.from_bytes(raw[496:504], "little")


def record(kind: int, number: int, content: bytes, seed: int) -> bytes:
    rest = RECORD.pack(number, len(content), kind) + content
    return xxh3_128(rest, seed) + rest


def blocks(form: Shape, data: bytes) -> list[list[bytes]]:
    """Return the blocks of each stripe, data first."""
    span = form.k * form.block
    stripes = []
    for at in range(0, len(data), span):
        part = data[at : at + span]
        size = -(-len(part) // form.k)
        own = np.frombuffer(part.ljust(form.k * size, b"\0"), np.uint8).reshape(form.k, size)
        stripes.append([row.tobytes() for row in (*own, *encode(form.parity, own))])
    return stripes


def split(form: Shape, data: bytes) -> list[bytes]:
    """Return the k + m streams of `data`."""
    stripes = blocks(form, data)
    streams = []
    for index in range(form.k + form.m):
        head = header(form, index)
        seed = tag(head)
        body = b"".join(record(BLOCK, s, stripe[index], seed) for s, stripe in enumerate(stripes))
        end = struct.pack("<Q", len(data)) + xxh3_128(data)
        streams.append(head + body + record(END, len(stripes), end, seed))
    return streams
