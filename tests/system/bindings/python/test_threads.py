"""The GIL is released while kernels run, buffers cannot move during a call, and threads share codecs."""

from __future__ import annotations

import ctypes
import mmap
import os
import pickle
import subprocess
import sys
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


def cut(shard: Any, pieces: int) -> Any:
    """Return a stripe that consists of pieces of a shard."""
    return np.frombuffer(shard, np.uint8).reshape(1, pieces, -1)


WIDE = gfsmith.Wide("leopard16", 4, 2)
Call = Callable[[gfsmith.Codec, Any], object]
CALLS: dict[str, Call] = {
    "encode": lambda codec, s: codec.encode(s[:4], s[4:]),
    "append": lambda codec, s: codec.append(0, s[0], s[4:]),
    "update": lambda codec, s: codec.update(0, s[0], s[4:]),
    "reconstruct": lambda codec, s: codec.reconstruct(s, codec.all_but(1)),
    "plan": lambda codec, s: codec.plan(codec.all_but(1)).run(s),
    "check": lambda codec, s: codec.check(s),
    "locate": lambda codec, s: codec.locate(s),
    "correct": lambda codec, s: codec.correct(s),
    "encode_stripes": lambda codec, s: codec.encode_stripes(cut(s[0], 4), cut(s[4], 4)[:, :2]),
    "check_stripes": lambda codec, s: codec.check_stripes(cut(s[0], 8)[:, :6]),
    "update_stripes": lambda codec, s: codec.update_stripes(
        [0], cut(s[0], 1)[0], cut(bytearray(2 * len(s[0])), 2)
    ),
    "reconstruct_stripes": lambda codec, s: codec.reconstruct_stripes(cut(s[0], 8)[:, :6], codec.all_but(1)),
    "Wide.encode": lambda _, s: WIDE.encode(s[:4], s[4:]),
    "Wide.reconstruct": lambda _, s: WIDE.reconstruct(s, WIDE.all_but(1)),
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
        self._thread = threading.Thread(target=self._run, args=(call,))
        armed = self._fault.fault_arm(
            self._address, self._length, self._told[1], self._proceed[0], self._milliseconds
        )
        assert armed == 0
        self._thread.start()
        assert os.read(self._told[0], 1) == b"!", "the call has reached its first shard"

    def _run(self, call: Callable[[], object]) -> None:
        try:
            call()
        except BaseException:
            os.write(self._told[1], b"?")  # or the other thread would wait forever
            raise

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


@pytest.mark.parametrize("name", CALLS)
def test_short_calls_release_the_gil_on_request(
    name: str, fault: ctypes.CDLL, codec: gfsmith.Codec, request: pytest.FixtureRequest
) -> None:
    request.addfinalizer(lambda: gfsmith.release_gil_from(32 << 10))
    gfsmith.release_gil_from(0)
    blocked = Blocked(fault, SHORT, 60_000)
    blocked.start(lambda: CALLS[name](codec, blocked.shards))
    assert blocked.proceed() == RELEASED


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


def test_calls_that_threads_share_equal_others() -> None:
    alone, together = (gfsmith.Codec("cauchy", 6, 3, threads=threads) for threads in (1, 3))
    assert alone == together and alone._handle is not together._handle
    rng = np.random.default_rng(5)
    for length in (1, 1 << 19, (1 << 20) + 77):
        shards = np.zeros((9, length), np.uint8)
        shards[:6] = rng.integers(0, 256, (6, length), np.uint8)
        expected = shards.copy()
        alone.encode(expected[:6], expected[6:])
        together.encode(shards[:6], shards[6:])
        assert np.array_equal(shards, expected) and together.check(shards)
        shards[[0, 4, 8]] = 0
        assert not together.check(shards)
        together.reconstruct(shards, together.all_but(0, 4, 8))
        assert np.array_equal(shards, expected)
        for codec, parity in ((alone, expected[6:]), (together, shards[6:])):
            codec.update_many([1, 2], shards[:2], parity)
            codec.append(3, shards[5], parity)
        assert np.array_equal(shards, expected)


@pytest.mark.parametrize("shape", [("leopard16", 40, 20), ("lch16", 20, 40)])
def test_calls_of_wide_codes_that_threads_share_equal_others(shape: tuple[str, int, int]) -> None:
    alone, together = (gfsmith.Wide(*shape, threads=threads) for threads in (1, 3))
    assert alone == together and repr(together) == f"{repr(alone)[:-1]}, threads=3)"
    for length in (64, 1 << 16, (1 << 17) + 64):
        data = random_data(alone.k, length)
        parity = alone.encode(data)
        assert np.array_equal(together.encode(data), parity)
        shards, present = np.vstack([data, parity]), alone.all_but(*range(0, 40, 2))
        broken = np.where(np.array(present)[:, None], shards, 0)
        assert np.array_equal(together.reconstruct(broken, present), shards)


def test_codecs_share_pools() -> None:
    before = threads_of_this_process()
    codecs = [gfsmith.Codec("cauchy", 4, 2, threads=7) for _ in range(5)]
    copies = [pickle.loads(pickle.dumps(codec)) for codec in codecs]
    assert threads_of_this_process() == before + 6
    assert repr(copies[0]) == "gfsmith.Codec('cauchy', k=4, m=2, threads=7)"
    lrc, matrix = gfsmith.Codec.lrc(4, 2, 1, threads=7), gfsmith.Codec.from_matrix([[1, 2]], threads=7)
    assert threads_of_this_process() == before + 6
    wide = pickle.loads(pickle.dumps(gfsmith.Wide("lch16", 4, 2, threads=7)))
    assert threads_of_this_process() == before + 6 and "threads=7" in repr(wide)
    assert "threads=7" in repr(lrc) and "threads=7" in repr(matrix)


@pytest.mark.parametrize("threads", [-1, 1025])
def test_a_wrong_number_of_threads(threads: int) -> None:
    with pytest.raises(gfsmith.InvalidError, match=rf"threads = {threads}: must be 0 \(all CPUs\) to 1024"):
        gfsmith.Codec("cauchy", 4, 2, threads=threads)


def test_a_codec_with_threads_in_a_forked_process() -> None:
    """The codec of the parent works in the calling thread, a new one with its own threads."""
    program = """if True:
        import os, gfsmith
        data = [bytes([n]) * (1 << 20) for n in range(4)]
        codec = gfsmith.Codec("cauchy", 4, 2, threads=3)
        parity = codec.encode(data)
        if os.fork() == 0:
            again = gfsmith.Codec("cauchy", 4, 2, threads=3)
            same = codec.encode(data) == parity == again.encode(data)
            os._exit(0 if same and len(os.listdir("/proc/self/task")) == 3 else 1)
        raise SystemExit(os.waitstatus_to_exitcode(os.wait()[1]))
    """
    assert subprocess.run([sys.executable, "-c", program], timeout=300).returncode == 0


def threads_of_this_process() -> int:
    return len(list(Path("/proc/self/task").iterdir()))
