"""Two copies of the library in one process, timed in turn on the same stripes (stripes.c)."""

from __future__ import annotations

import ctypes
import mmap
import random
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.build import ROOT
from gfsmith.explore.stats import Estimate, paired_ratio

LIBRARY = ROOT / "build" / "libgfsmith.a"
POOL = 768 << 20  #: bytes; far more than any last-level cache
SAMPLE = 1 << 24  #: bytes of data in a sample
ROUNDS = 61
GAP = 128  #: bytes between shards, as in `python -m bench`
CACHED, STREAMING = 1, 2  #: GFSMITH_HINT_CACHED, GFSMITH_HINT_STREAMING
POLYNOMIAL = 0x11D


class _Calls(ctypes.Structure):
    """`calls` of stripes.c."""

    _fields_ = (
        ("encode", ctypes.c_void_p),
        ("update", ctypes.c_void_p),
        ("codec", ctypes.c_void_p),
        ("data", ctypes.c_uint),
        ("parities", ctypes.c_uint),
    )


@dataclass(frozen=True, slots=True)
class Job:
    """Calls on stripes of k + m shards. code: a name, or the matrix. updated: number of shards whose deltas
    update the parities; 0: the stripes are encoded."""

    code: bytes | Any
    k: int
    m: int
    hint: int
    updated: int = 0


def _run(*command: str | Path) -> None:
    subprocess.run(list(map(str, command)), check=True)


def copy(folder: Path, name: str, change: Callable[[str], str]) -> ctypes.CDLL:
    """Return a copy of the library in whose list of CPUs and tuned kernels (tuned.inc) each line is
    changed."""
    part = folder / name
    part.mkdir()
    listed = (ROOT / "gen_out" / "tuned.inc").read_text(encoding="utf-8")
    (part / "tuned.inc").write_text("\n".join(map(change, listed.splitlines())) + "\n", encoding="utf-8")
    shutil.copy(LIBRARY, part / "library.a")
    includes = (f"-I{part}", *(f"-I{ROOT / path}" for path in ("gen_out", "runtime/core/include")))
    source = ROOT / "runtime/core/src/tuned.c"
    shutil.copy(source, part / "tuned.c")  # its folder would come first in the search for tuned.inc
    _run("cc", "-O2", "-fPIC", "-fvisibility=hidden", *includes, f"-I{source.parent}", "-c", part / "tuned.c",
         "-o", part / "tuned.o")  # fmt: skip
    _run("ar", "r", part / "library.a", part / "tuned.o")
    _run("cc", "-shared", "-o", part / "library.so", "-Wl,--whole-archive", part / "library.a",
         "-Wl,--no-whole-archive", "-pthread")  # fmt: skip
    return ctypes.CDLL(str(part / "library.so"))


class Stripes:
    """A pool of random bytes in huge pages, and the loop over its stripes, compiled in `folder`."""

    def __init__(self, folder: Path) -> None:
        source = Path(__file__).with_name("stripes.c")
        includes = f"-I{ROOT / 'runtime/core/include'}"
        _run("cc", "-O2", "-shared", "-fPIC", includes, source, "-o", folder / "stripes.so")
        self._loop = ctypes.CDLL(str(folder / "stripes.so"))
        self._loop.stripes_time.restype = ctypes.c_uint64
        memory = mmap.mmap(-1, POOL)
        memory.madvise(mmap.MADV_HUGEPAGE)
        self._pool = np.frombuffer(memory, np.uint8)
        self._pool[:] = np.random.default_rng(0).integers(0, 256, POOL, np.uint8)

    @staticmethod
    def _calls(library: ctypes.CDLL, job: Job) -> _Calls:
        codec = ctypes.c_void_p()
        if isinstance(job.code, bytes):
            status = library.gfsmith_codec_create(ctypes.byref(codec), job.code, job.k, job.m)
        else:
            matrix = ctypes.c_void_p(job.code.ctypes.data)
            status = library.gfsmith_codec_create_matrix(
                ctypes.byref(codec), POLYNOMIAL, job.k, job.m, matrix
            )
        assert status == 0 and library.gfsmith_codec_hint(codec, job.hint) == 0, status
        encode, update = (
            ctypes.cast(function, ctypes.c_void_p)
            for function in (library.gfsmith_encode, library.gfsmith_update_many)
        )
        return _Calls(encode, update if job.updated else None, codec, job.updated or job.k, job.m)

    def compare(self, libraries: Sequence[ctypes.CDLL], job: Job, length: int) -> Estimate:
        """Return the speed of the first library over that of the second."""
        calls = [self._calls(library, job) for library in libraries]
        shards, distance = calls[0].data + job.m, length + GAP
        stripes = 1 if job.hint == CACHED else POOL // (shards * distance)
        count = max(16, SAMPLE // (calls[0].data * length))
        count = count if job.hint == CACHED else min(stripes, count)
        shuffled = np.random.default_rng(1).permutation(stripes).astype(np.uint32)
        times: tuple[list[float], list[float]] = ([], [])
        at = 0
        for _ in range(ROUNDS):
            for which in random.sample((0, 1), 2):
                order = shuffled[np.arange(at, at + count) % stripes]
                at += count
                times[which].append(self._loop.stripes_time(
                    ctypes.byref(calls[which]), ctypes.c_size_t(length), ctypes.c_size_t(distance),
                    ctypes.c_void_p(self._pool.ctypes.data), ctypes.c_void_p(order.ctypes.data),
                    ctypes.c_size_t(count)))  # fmt: skip
        return paired_ratio(times[1], times[0])

    def report(self, what: str, libraries: Sequence[ctypes.CDLL], job: Job, length: int) -> None:
        """Print the speed of the first library over that of the second."""
        ratio = self.compare(libraries, job, length)
        figures = f"{ratio.median:.2f} ({ratio.low:.2f}..{ratio.high:.2f})"
        print(f"{what}, {length} bytes: {figures}", flush=True)
