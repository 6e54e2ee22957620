"""python -m bench.checksums: parities and the CRC-32C of all shards, as the table of docs/checksums.md.

Figures are GB/s of source data (medians), and the speed of one pass over that of encoding alone, of two
passes and of ISA-L's two passes (crc32_iscsi) in the same trial: the median, with the quartiles.
"""

from __future__ import annotations

import ctypes.util
import subprocess
import sys
from pathlib import Path

import numpy as np

from bench.build import ROOT, BuildError, compile_program
from bench.options import OneLineParser
from bench.result_store import spread, table

HERE = Path(__file__).resolve().parent
DRIVER = ROOT / "build" / "bench" / "checksums"
SHAPES = ((4, 2), (10, 4), (48, 4))
CACHED, DRAM = (4096, 16384), (4096, 16384, 65536, 1048576)
POOL = 512 << 20
SAMPLE = 8 << 20  #: bytes of data of a sample from memory; an eighth of that in cache


def build() -> Path:
    """Build the driver with the library. Raises BuildError."""
    if ctypes.util.find_library("isal") is None:
        raise BuildError("libisal is missing: apt-get install libisal-dev")
    subprocess.run(["make", "-s", "lib"], cwd=ROOT, check=True)
    DRIVER.mkdir(parents=True, exist_ok=True)
    sources = [HERE / "driver.c", ROOT / "build" / "libgfsmith.a"]
    compile_program(
        DRIVER / "driver", sources, (f"-I{ROOT / 'runtime/core/include'}",), ["-lisal", "-lpthread"]
    )
    return DRIVER / "driver"


def measure(driver: Path, k: int, m: int, length: int, memory: bool, trials: int) -> np.ndarray:
    """Return nanoseconds per stripe, trials x ways."""
    turns = max(1, (SAMPLE if memory else SAMPLE // 8) // (k * length))
    numbers = (k, m, length, POOL if memory else 0, turns, trials)
    done = subprocess.run([driver, *map(str, numbers)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"bench.checksums: {k}+{m}, {length} bytes: {done.stderr.strip()}")
    return np.array([line.split() for line in done.stdout.splitlines()], float)


def row(k: int, m: int, length: int, memory: bool, ns: np.ndarray) -> list[str]:
    """Return the cells of a table row."""
    cells = [f"{k}+{m}, {length:,} B, {'DRAM' if memory else 'cache'}"]
    cells += [f"{k * length / np.median(ns[:, way]):.1f}" for way in (0, 1)]
    return cells + [spread(ns[:, other] / ns[:, 1], 2) for other in (0, 2, 3)]


def main() -> int:
    parser = OneLineParser(prog="bench.checksums", description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=60)
    trials = parser.parse_args().trials
    try:
        driver = build()
    except (BuildError, subprocess.CalledProcessError) as error:
        print(f"bench.checksums: {error}", file=sys.stderr)
        return 1
    cells = [(*shape, length, False) for shape in SHAPES for length in CACHED]
    cells += [(*shape, length, True) for shape in SHAPES for length in DRAM]
    rows = (row(*cell, measure(driver, *cell, trials)) for cell in cells)
    titles = ("shape, shard, place", "encode", "one pass", "of encode", "of two passes", "of ISA-L")
    print(*table(titles, rows), sep="\n", end="")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
