"""python -m bench.stores: streaming stores over ordinary ones on this CPU, by bytes of a shard.

Two copies of the library that differ in one limit encode the same stripes of 10+4 from memory, in turn. The
figures of a CPU belong into gfsmith.kernel.limits (docs/tuning.md).
"""

from __future__ import annotations

import ctypes
import mmap
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bench.build import ROOT
from bench.options import OneLineParser, start
from gfsmith.explore.stats import Estimate, paired_ratio
from gfsmith.kernel import limits, microarch

LIBRARY = ROOT / "build" / "libgfsmith.a"
POOL = 768 << 20  #: bytes; far more than any last-level cache
SAMPLE = 1 << 24  #: bytes of data in a sample
ROUNDS = 61
GAP = 128  #: bytes between shards, as in `python -m bench`
STREAMING = 2  #: GFSMITH_HINT_STREAMING
CODES = {"known matrix": b"cauchy", "tables": b"vandermonde"}


def _run(*command: str | Path) -> None:
    subprocess.run(list(map(str, command)), check=True)


def _library(folder: Path, least: int) -> ctypes.CDLL:
    """Return a copy of the library whose shortest shard with streaming stores has `least` bytes."""
    part = folder / str(least)
    part.mkdir()
    listed = (ROOT / "gen_out" / "tuned.inc").read_text(encoding="utf-8")
    rows = [line.rsplit(",", 1)[0] + f", {least})" if line.startswith("GFSMITH_TUNED_CPU(") else line
            for line in listed.splitlines()]  # fmt: skip
    (part / "tuned.inc").write_text("\n".join(rows) + "\n", encoding="utf-8")
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


def _loop(folder: Path) -> ctypes.CDLL:
    source = Path(__file__).with_name("loop.c")
    include = f"-I{ROOT / 'runtime/core/include'}"
    _run("cc", "-O2", "-shared", "-fPIC", include, source, "-o", folder / "loop.so")
    loop = ctypes.CDLL(str(folder / "loop.so"))
    loop.stores_time.restype = ctypes.c_uint64
    return loop


def _pool() -> np.ndarray:
    """Return random bytes in huge pages."""
    memory = mmap.mmap(-1, POOL)
    memory.madvise(mmap.MADV_HUGEPAGE)
    pool = np.frombuffer(memory, np.uint8)
    pool[:] = np.random.default_rng(0).integers(0, 256, POOL, np.uint8)
    return pool


def _codec(library: ctypes.CDLL, code: bytes) -> ctypes.c_void_p:
    codec = ctypes.c_void_p()
    status = library.gfsmith_codec_create(ctypes.byref(codec), code, 10, 4)
    assert status == 0 and library.gfsmith_codec_hint(codec, STREAMING) == 0, status
    return codec


def _compare(
    loop: ctypes.CDLL, libraries: Sequence[ctypes.CDLL], code: bytes, length: int, pool: np.ndarray
) -> Estimate:
    """Return the speed of the first library over that of the second."""
    codecs = [_codec(library, code) for library in libraries]
    stripes = POOL // (14 * (length + GAP))
    count = min(stripes, max(16, SAMPLE // (10 * length)))
    shuffled = np.random.default_rng(1).permutation(stripes).astype(np.uint32)
    times: tuple[list[float], list[float]] = ([], [])
    at = 0
    for _ in range(ROUNDS):
        for which in random.sample((0, 1), 2):
            order = np.ascontiguousarray(np.take(shuffled, range(at, at + count), mode="wrap"))
            at += count
            times[which].append(loop.stores_time(
                libraries[which].gfsmith_encode, codecs[which], ctypes.c_size_t(length),
                ctypes.c_size_t(length + GAP), ctypes.c_void_p(pool.ctypes.data),
                ctypes.c_void_p(order.ctypes.data), ctypes.c_size_t(count)))  # fmt: skip
    return paired_ratio(times[1], times[0])


def main() -> int:
    OneLineParser(prog="bench.stores", description=(__doc__ or "").splitlines()[0]).parse_args()
    if not LIBRARY.exists():
        print(f"bench.stores: {LIBRARY} is missing; run: make lib", file=sys.stderr)
        return 1
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    random.seed(1)
    pool = _pool()
    print(f"{microarch.host().name}: 10+4 from memory, speed of streaming stores over ordinary ones")
    with tempfile.TemporaryDirectory(prefix="gfsmith-stores-") as name:
        folder = Path(name)
        loop, libraries = _loop(folder), [_library(folder, least) for least in (1, 1 << 40)]
        for what, code in CODES.items():
            for length in limits.CANDIDATES:
                ratio = _compare(loop, libraries, code, length, pool)
                figures = f"{ratio.median:.2f} ({ratio.low:.2f}..{ratio.high:.2f})"
                print(f"{what}, {length} bytes: {figures}", flush=True)
    return 0


if __name__ == "__main__":
    start(main)
