"""python -m bench.wide.batches: batch calls of wide codes over a call for each stripe.

Both encode, or rebuild a third of the data shards of, the same 16 stripes in turn, round after round in one
process; the batch calls write the bytes of the others. Times are CPU times, ratios those of a round.
"""

from __future__ import annotations

import ctypes
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.build import ROOT, BuildError, compile_program
from bench.machine import describe
from bench.options import OneLineParser, start
from bench.result_store import spread
from bench.wide.__main__ import PITCH, measure

SHAPES = ((256, 256), (1024, 1024))
LENGTHS = (64, 256, 1024)
COUNT = 16


class Stripes(ctypes.Structure):
    """The structure of batches.c, with the memory that it points to."""

    _fields_ = (
        ("wide", ctypes.c_void_p),
        ("len", ctypes.c_size_t),
        ("count", ctypes.c_size_t),
        ("k", ctypes.c_uint),
        ("m", ctypes.c_uint),
        *((name, ctypes.c_void_p) for name in ("data", "parity", "shards", "present")),
    )

    def __init__(self, lib: ctypes.CDLL, code: str, k: int, m: int, length: int) -> None:
        made = ctypes.c_void_p()
        status = lib.gfsmith_wide_create(
            ctypes.byref(made), code.encode(), ctypes.c_uint(k), ctypes.c_uint(m)
        )
        if status != 0:
            raise BuildError(f"gfsmith_wide_create returns {status}")
        rng = np.random.default_rng(k + length)
        self.memory: Any = rng.integers(0, 256, (COUNT, k + m, length + PITCH), dtype=np.uint8)
        rows = np.array([[row.ctypes.data for row in stripe] for stripe in self.memory], dtype=np.uintp)
        self.pointers = [np.ascontiguousarray(part) for part in (rows[:, :k], rows[:, k:], rows)]
        self.flags = np.arange(k + m) % 3 != 0
        self.flags[k:] = True
        super().__init__(made, length, COUNT, k, m, *(part.ctypes.data for part in self.pointers))

    def repair(self) -> None:
        """Let the calls repair instead of encoding."""
        self.present = self.flags.ctypes.data


def ratio(driver: ctypes.CDLL, stripes: Stripes, rounds: int, seconds: float) -> tuple[Any, Any]:
    """Return the times of a call for each stripe over those of a batch call, and the latter."""
    results = []
    for name in ("batches_single", "batches_all"):
        getattr(driver, name)(ctypes.byref(stripes), 1)
        results.append(stripes.memory.copy())
    if not np.array_equal(*results):
        sys.exit("bench.wide.batches: batch calls have other bytes")
    single, together = driver.batches_single, driver.batches_all
    calls = [
        lambda count: single(ctypes.byref(stripes), count),
        lambda count: together(ctypes.byref(stripes), count),
    ]
    times = measure(calls, rounds, seconds, time.process_time)
    return times[:, 0] / times[:, 1], times[:, 1]


def line(lib: ctypes.CDLL, driver: ctypes.CDLL, shape: tuple[int, int], length: int, given: Any) -> str:
    """Return a row of the table."""
    stripes = Stripes(lib, given.code, *shape, length)
    gained, seconds = ratio(driver, stripes, given.rounds, given.seconds)
    rate = spread(stripes.memory[:, :, :length].size / seconds / 1e9, 1)
    stripes.repair()
    repaired, _ = ratio(driver, stripes, given.rounds, given.seconds)
    k, m = shape
    return f"| {k} + {m} | {length} B | {rate} | {spread(gained, 2)} | {spread(repaired, 2)} |"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = OneLineParser(prog="bench.wide.batches", description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.1, help="of each sample")
    parser.add_argument("--code", default="leopard16")
    given = parser.parse_args(arguments)
    library = ROOT / "build" / "libgfsmith.so"
    try:
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder) / "batches.so"
            flags = ["-O2", "-shared", "-fPIC", f"-I{ROOT / 'runtime/core/include'}"]
            compile_program(output, [ROOT / "bench/wide/batches.c"], flags, [str(library)])
            lib, driver = ctypes.CDLL(str(library), ctypes.RTLD_GLOBAL), ctypes.CDLL(str(output))
        print(f"{describe()}\n\n| k + m | shard | GB/s | encoding | repair |\n{'|---' * 5}|")
        for shape in SHAPES:
            for length in LENGTHS:
                print(line(lib, driver, shape, length, given), flush=True)
    except BuildError as error:
        sys.exit(f"bench.wide.batches: {error}")


if __name__ == "__main__":
    start(main)
