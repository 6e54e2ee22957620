"""Contenders of a measurement: gfsmith's library, and peers that are installed on this machine.

ISA-L and Jerasure run with the matrix of the code, in the same loop as the library (timing.c of the Python
package). zfec runs through its Python interface, as its users call it, with its own matrix.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from typing import Any

from gfsmith.codec import Codec, _native
from gfsmith.explore.bench.stripes import Stripes, step

#: Bytes of an ISA-L table for one coefficient.
_ISAL_ENTRY = 32


class Work(Enum):
    """Encoding, or the repair of min(k, m) lost data shards."""

    ENCODE = "encode"
    RECONSTRUCT = "reconstruct"


class _Kind(Enum):
    """The calls of timing.c, in the order of its table."""

    ENCODE = 0
    RECONSTRUCT = 1
    ISAL = 2
    JERASURE_ENCODE = 3
    JERASURE_DECODE = 4


class BenchError(RuntimeError):
    """A contender fails or computes other bytes. The message is one line."""


@dataclass(frozen=True, slots=True)
class Contender:
    """time(stripes, first, calls): nanoseconds of processor time of `calls` calls from a stripe on. same: its
    shards must equal those of the code."""

    name: str
    time: Callable[[Stripes, int, int], int]
    same: bool = True


@dataclass(frozen=True, slots=True)
class Task:
    """The shards that each call reads and writes, and the matrix between them."""

    codec: Codec
    work: Work
    sources: tuple[int, ...]
    targets: tuple[int, ...]
    matrix: tuple[bytes, ...]


def task(codec: Codec, work: Work) -> Task:
    """Return the task of a codec. A repair loses the first min(k, m) data shards."""
    if work is Work.ENCODE:
        data, parities = tuple(range(codec.k)), tuple(range(codec.k, codec.n))
        return Task(codec, work, data, parities, tuple(bytes(row) for row in codec.parity_matrix))
    plan = codec.plan(codec.all_but(*range(min(codec.k, codec.m))))
    return Task(codec, work, plan.reads, plan.targets, plan.matrix)


def _loop(what: Task, kind: _Kind, function: int, tables: Any) -> Callable[[Stripes, int, int], int]:
    def run(stripes: Stripes, first: int, calls: int) -> int:
        taken = _native.time_calls(
            kind.value,
            what.codec._handle,
            function,
            tables,
            bytes(what.sources),
            bytes(what.targets),
            stripes.pool,
            stripes.pitch,
            stripes.length,
            stripes.count,
            first,
            step(stripes),
            calls,
        )
        if taken < 0:
            raise BenchError(f"{what.work.value}: a call of {kind.name.lower()} failed")
        return taken

    return run


def ours(what: Task) -> Contender:
    """Return gfsmith's library."""
    kind = _Kind.ENCODE if what.work is Work.ENCODE else _Kind.RECONSTRUCT
    return Contender("gfsmith", _loop(what, kind, 0, bytearray(1)))


def _library(*names: str) -> ctypes.CDLL | None:
    """Return the first library that the loader finds."""
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def _isal(what: Task) -> Contender | None:
    """Return ISA-L. Its tables for repairs are made once, as the library keeps its repairs."""
    library = _library("libisal.so.2")
    if library is None:
        return None
    rows, columns = len(what.targets), len(what.sources)
    tables = bytearray(_ISAL_ENTRY * rows * columns)
    matrix = ctypes.create_string_buffer(b"".join(what.matrix), rows * columns)
    library.ec_init_tables(columns, rows, matrix, (ctypes.c_char * len(tables)).from_buffer(tables))
    return Contender("ISA-L", _loop(what, _Kind.ISAL, _address(library.ec_encode_data), tables))


def _jerasure(what: Task) -> Contender | None:
    library = _library("libJerasure.so.2")
    if library is None:
        return None
    elements = [element for row in what.codec.parity_matrix for element in row]
    tables = bytearray((ctypes.c_int * len(elements))(*elements))
    encodes = what.work is Work.ENCODE
    function = library.jerasure_matrix_encode if encodes else library.jerasure_matrix_decode
    kind = _Kind.JERASURE_ENCODE if encodes else _Kind.JERASURE_DECODE
    return Contender("Jerasure", _loop(what, kind, _address(function), tables))


def _zfec(what: Task) -> Contender | None:
    """Return zfec, which has no function that writes to given buffers."""
    try:
        zfec = import_module("zfec")
    except ImportError:
        return None
    k, n = what.codec.k, what.codec.n
    coder = (zfec.Encoder if what.work is Work.ENCODE else zfec.Decoder)(k, n)
    extra = (list(what.targets),) if what.work is Work.ENCODE else (list(what.sources),)

    def run(stripes: Stripes, first: int, calls: int) -> int:
        distance = step(stripes)
        numbers = [(first + call * distance) % stripes.count for call in range(calls)]
        shards = [[stripes.shard(number, index) for index in what.sources] for number in numbers]
        function = coder.encode if what.work is Work.ENCODE else coder.decode
        begin = time.thread_time_ns()
        for given in shards:
            function(given, *extra)
        return time.thread_time_ns() - begin

    return Contender("zfec (Python)", run, same=False)


def find(what: Task) -> list[Contender]:
    """Return the contenders of a task, gfsmith first."""
    found = (make(what) for make in (_isal, _jerasure, _zfec))
    return [ours(what), *(each for each in found if each is not None)]


def check(what: Task, contenders: Sequence[Contender], stripes: Stripes) -> None:
    """Raise BenchError if a contender with the code's matrix computes other shards than the library."""
    expected: list[bytes] | None = None
    for contender in contenders:
        if not contender.same:
            continue
        for index in what.targets:
            stripes.shard(0, index)[:] = bytes(stripes.length)
        contender.time(stripes, 0, 1)
        found = [bytes(stripes.shard(0, index)) for index in what.targets]
        expected = found if expected is None else expected
        if found != expected:
            raise BenchError(f"{contender.name} and gfsmith compute different shards ({what.work.value})")
