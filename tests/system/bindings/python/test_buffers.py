"""Accepted shards, without copies and without references kept after a call."""

from __future__ import annotations

import array
import contextlib
import ctypes
import gc
import mmap
import subprocess
import sys
import tracemalloc
from collections import deque
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import gfsmith
from tests.oracle.codec import random_data
from tests.system.bindings.python.test_wrong import WRONG

LENGTH = 96
DATA = random_data(4, LENGTH)


def _mmap(data: bytes) -> mmap.mmap:
    made = mmap.mmap(-1, len(data))
    made[:] = data
    return made


KINDS: dict[str, Callable[[bytes], Any]] = {
    "bytearray": bytearray,
    "memoryview": lambda b: memoryview(bytearray(b)),
    "memoryview of chars": lambda b: memoryview(bytearray(b)).cast("c"),
    "part of a memoryview": lambda b: memoryview(bytearray(b"xx" + b + b"yy"))[2:-2],
    "array of B": lambda b: array.array("B", b),
    "array of b": lambda b: array.array("b", b),
    "mmap": _mmap,
    "ctypes": lambda b: (ctypes.c_ubyte * len(b)).from_buffer_copy(b),
    "numpy": lambda b: np.frombuffer(bytearray(b), np.uint8),
    "numpy int8": lambda b: np.frombuffer(bytearray(b), np.int8),
    "numpy unaligned": lambda b: np.frombuffer(bytearray(b"x" + b), np.uint8)[1:],
}


@pytest.fixture(scope="module")
def codec() -> gfsmith.Codec:
    return gfsmith.Codec("cauchy", 4, 2)


@pytest.fixture(scope="module")
def expected(codec: gfsmith.Codec) -> list[bytes]:
    return [bytes(parity) for parity in codec.encode(DATA)]


@pytest.mark.parametrize("kind", KINDS)
def test_anything_that_holds_bytes_is_a_shard(kind: str, codec: gfsmith.Codec, expected: list[bytes]) -> None:
    make = KINDS[kind]
    data = [make(bytes(row)) for row in DATA]
    parity = [make(bytes(LENGTH)) for _ in range(2)]
    assert codec.encode(data, parity) is parity
    assert [bytes(memoryview(p)) for p in parity] == expected
    assert codec.encode(deque(data)) == expected
    assert codec.check([*data, *parity])
    found = codec.reconstruct([data[0], None, None, data[3], *parity])
    assert [bytes(memoryview(shard)) for shard in found[:4]] == [bytes(row) for row in DATA]
    assert found[0] is data[0] and isinstance(found[1], bytearray)


ARRAYS: dict[str, Callable[[np.ndarray[Any, Any]], Any]] = {
    "as it is": lambda a: a.copy(),
    "rows far apart": lambda a: np.pad(a, ((0, 0), (5, 70)))[:, 5:-70],
    "every other row": lambda a: np.repeat(a, 2, axis=0)[::2],
    "rows backwards": lambda a: a[::-1].copy()[::-1],
    "int8": lambda a: a.view(np.int8).copy(),
    "subclass": lambda a: a.copy().view(np.matrix),
    "memoryview": lambda a: memoryview(bytearray(a.tobytes())).cast("B", a.shape),
    "ctypes": lambda a: ((ctypes.c_ubyte * a.shape[1]) * a.shape[0]).from_buffer_copy(a.tobytes()),
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_rows_of_an_array_are_shards(kind: str, codec: gfsmith.Codec, expected: list[bytes]) -> None:
    data, parity = ARRAYS[kind](DATA), ARRAYS[kind](np.zeros((2, LENGTH), np.uint8))
    codec.encode(data, parity)
    assert np.array_equal(np.asarray(parity).view(np.uint8), np.array([list(p) for p in expected]))
    new = codec.encode(data)
    if isinstance(data, np.ndarray):
        assert type(new) is np.ndarray and new.dtype == np.uint8 and new.flags.c_contiguous
    assert [bytes(memoryview(p)) for p in new] == expected
    whole = ARRAYS[kind](np.vstack([DATA, np.array([list(p) for p in expected], np.uint8)]))
    assert codec.check(whole)
    view = np.asarray(whole)
    view[[0, 5]] = 0
    assert codec.reconstruct(whole, codec.all_but(0, 5)) is whole
    assert codec.check(whole)


@pytest.mark.parametrize("m", [1, 2, 5])
def test_an_array_of_no_rows_has_no_shards(m: int) -> None:
    """No shard has changed: nothing is written, whether the deltas are a list or an array."""
    parity = [bytearray(b"\x55" * LENGTH) for _ in range(m)]
    codec = gfsmith.Codec("cauchy", 3, m)
    codec.update_many([], np.zeros((0, LENGTH), np.uint8), parity)
    codec.update_many([], [], parity)
    assert parity == [b"\x55" * LENGTH] * m
    for shard in parity:
        shard.append(0)  # a buffer that is still exported cannot change its size


def test_equal_rows_may_be_one(codec: gfsmith.Codec) -> None:
    same = np.broadcast_to(DATA[0], (4, LENGTH))
    assert np.array_equal(codec.encode(same), codec.encode(same.copy()))
    assert codec.encode([bytes(DATA[0])] * 4) == [bytes(p) for p in codec.encode(same)]


@pytest.mark.parametrize("rows", [[b""] * 4, [bytearray()] * 4, np.zeros((4, 0), np.uint8)])
def test_empty_shards(rows: Any, codec: gfsmith.Codec) -> None:
    parity = codec.encode(rows)
    assert len(parity) == 2 and all(len(p) == 0 for p in parity)
    assert codec.check([b""] * 6)
    assert codec.reconstruct([None, *[b""] * 5]) == [b""] * 6
    codec.update(0, b"", [bytearray(), bytearray()])
    assert codec.locate([b""] * 6) == ((0,) * 6, 0, 0)


ROUNDS = 300


def test_calls_leave_no_memory_behind(codec: gfsmith.Codec) -> None:
    rows = list(map(bytes, DATA))
    parity = [bytearray(LENGTH), bytearray(LENGTH)]

    def calls() -> None:
        codec.encode(DATA, parity)
        codec.encode(rows)
        codec.reconstruct([None, *rows[1:], *parity])
        codec.check([*rows, *parity])
        codec.locate([*rows, *parity])
        stripe = np.frombuffer(b"".join([*rows, *parity]), np.uint8).reshape(1, 6, LENGTH)
        codec.encode_stripes(stripe[:, :4])
        codec.check_stripes(stripe)
        codec.update_stripes([0], DATA[:1], codec.encode_stripes(stripe[:, :4]))
        codec.plan(codec.all_but(0)).run([bytearray(LENGTH), *rows[1:], *parity])
        gfsmith.Codec("cauchy", 4, 2)
        gfsmith.raid.check([*rows, *parity], 2)
        for name in (
            "str inside",
            "length",
            "gaps",
            "bytes as parity",
            "parity twice",
            "too many",
            "index",
            "list of stripes",
            "number of stripes",
            "stripes backwards",
            "index of a stripe",
            "parities in the stripes",
        ):
            with contextlib.suppress(ValueError, TypeError):
                WRONG[name][0](codec)

    def held() -> int:
        for _ in range(ROUNDS):
            calls()
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        sizes = [held() for _ in range(4)]
    finally:
        tracemalloc.stop()
    # Other threads of the test runner allocate too; calls that leave memory do so in every round.
    growth = [after - before for before, after in pairwise(sizes[1:])]
    assert min(growth) < ROUNDS * 8, "less than any object, per round"


NO_COPIES = """
import resource, sys
import gfsmith, numpy
codec = gfsmith.Codec("cauchy", 10, 4)
size = 8 << 20
array = numpy.full((14, size), 7, numpy.uint8)
data = [bytes(size) for _ in range(10)]
parity = [bytearray(size) for _ in range(4)]
wide = numpy.zeros((14, 2 * size), numpy.uint8)[:, 5 : size + 5]
def calls():
    codec.encode(array[:10], array[10:])
    codec.encode(data, parity)
    codec.encode(wide[:10], wide[10:])
    codec.check(array)
    codec.encode_stripes(array[None, :10], array[None, 10:])
    codec.check_stripes(array[None])
    codec.update(3, data[3], parity)
    codec.reconstruct(array, codec.all_but(1, 12))
    codec.plan(codec.all_but(1)).run(array)
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + size // 2
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
calls()
try:
    bytes(array[0])
except MemoryError:
    print("and a copy of one shard is too much")
"""


def test_nothing_is_copied() -> None:
    """The memory limit leaves room for half a shard more than the caller has."""
    done = subprocess.run([sys.executable, "-c", NO_COPIES], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "and a copy of one shard is too much\n"), done.stderr
