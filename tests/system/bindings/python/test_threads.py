"""The GIL is released while kernels run, buffers cannot move during a call, and threads share codecs."""

from __future__ import annotations

import ctypes
import mmap
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gfsmith
from tests.oracle.codec import random_data

SOURCE = Path(__file__).parent / "native" / "fault.c"
LONG, SHORT = 1 << 16, 1 << 10  #: bytes of a shard: a call of 6 shards releases the GIL, or keeps it
RELEASED, TIMED_OUT = 1, 2  #: outcomes of fault.c

Call = Callable[[gfsmith.Codec, Any], object]
CALLS: dict[str, Call] = {
    "encode": lambda codec, s: codec.encode(s[:4], s[4:]),
    "append": lambda codec, s: codec.append(0, s[0], s[4:]),
    "update": lambda codec, s: codec.update(0, s[0], s[4:]),
    "reconstruct": lambda codec, s: codec.reconstruct(s, codec.all_but(1)),
    "plan": lambda codec, s: codec.plan(codec.all_but(1)).run(s),
    "check": lambda codec, s: codec.check(s),
    "locate": lambda codec, s: codec.locate(s),
    "raid.generate": lambda _, s: gfsmith.raid.generate(s, 2),
    "raid.check": lambda _, s: gfsmith.raid.check(s, 2),
    "raid.recover": lambda _, s: gfsmith.raid.recover(s, [True, False, True, True, True, True], 2),
}


@pytest.fixture(scope="module")
def fault(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    library = tmp_path_factory.mktemp("fault") / "fault.so"
    flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, "-o", library, SOURCE], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.fault_arm.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3]
    return loaded


class Blocked:
    """A call in its own thread that stops at its first shard until `proceed`."""

    def __init__(self, fault: ctypes.CDLL, length: int, milliseconds: int) -> None:
        self._fault = fault
        self._length = max(length, mmap.PAGESIZE)
        self._memory = mmap.mmap(-1, self._length)
        self._address = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self._told, self._proceed = os.pipe(), os.pipe()
        self._milliseconds = milliseconds
        first = memoryview(self._memory)[:length]
        first[:] = random_data(1, length).tobytes()
        self.shards = [first, *(bytearray(shard) for shard in random_data(5, length))]

    def start(self, call: Callable[[], object]) -> None:
        self._thread = threading.Thread(target=call)
        armed = self._fault.fault_arm(
            self._address, self._length, self._told[1], self._proceed[0], self._milliseconds
        )
        assert armed == 0
        self._thread.start()
        assert os.read(self._told[0], 1) == b"!", "the call has reached its first shard"

    def proceed(self) -> int:
        """Continue the call and return the outcome of its wait."""
        os.write(self._proceed[1], b"!")
        self._thread.join()
        outcome: int = self._fault.fault_disarm()
        for end in (*self._told, *self._proceed):
            os.close(end)
        return outcome


@pytest.fixture
def codec() -> gfsmith.Codec:
    return gfsmith.Codec("cauchy", 4, 2)


@pytest.mark.parametrize("name", CALLS)
def test_other_threads_run_while_a_call_does(name: str, fault: ctypes.CDLL, codec: gfsmith.Codec) -> None:
    """The call waits in the middle of its kernel until Python code of this thread releases it."""
    blocked = Blocked(fault, LONG, 60_000)
    blocked.start(lambda: CALLS[name](codec, blocked.shards))
    assert blocked.proceed() == RELEASED


def test_the_test_above_can_fail(fault: ctypes.CDLL, codec: gfsmith.Codec) -> None:
    """A short call keeps the GIL: no thread can release it, and it times out."""
    blocked = Blocked(fault, SHORT, 300)
    blocked.start(lambda: CALLS["encode"](codec, blocked.shards))
    assert blocked.proceed() == TIMED_OUT


def test_buffers_keep_their_size_during_a_call(fault: ctypes.CDLL, codec: gfsmith.Codec) -> None:
    blocked = Blocked(fault, LONG, 60_000)
    parity = blocked.shards[4]
    assert isinstance(parity, bytearray)
    blocked.start(lambda: CALLS["encode"](codec, blocked.shards))
    with pytest.raises(BufferError):
        parity.extend(b"more")
    assert blocked.proceed() == RELEASED
    parity.extend(b"more")
    assert len(parity) == LONG + 4


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as threads:
        yield threads


def test_threads_share_a_codec(pool: ThreadPoolExecutor) -> None:
    """Encoding and repairs of many losses, which the codec records at their first repair."""
    codec = gfsmith.Codec("cauchy", 10, 4)

    def work(seed: int) -> bool:
        data = random_data(10, 5000 + seed, seed)
        whole = np.vstack([data, codec.encode(data)])
        rng = np.random.default_rng(seed)
        for _ in range(20):
            present = codec.all_but(*map(int, rng.choice(14, 4, replace=False)))
            broken = np.where(np.array(present)[:, None], whole, 0)
            codec.reconstruct(broken, present)
            if not np.array_equal(broken, whole):
                return False
        return codec.check(whole)

    assert all(pool.map(work, range(40)))
