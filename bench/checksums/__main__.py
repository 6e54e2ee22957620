"""python -m bench.checksums: the tables of docs/checksums.md.

The first has parities and the CRC-32C of all shards: GB/s of source data (medians), and the speed of one pass
over that of encoding alone, of two passes and of ISA-L's two passes (crc32_iscsi) in the same trial: the
median, with the quartiles. The second (--scrub) has the sketch of a shard: GB/s (medians) of reading alone,
of the sketch and of the CRC-32C, and the speed of the sketch over that of the others in the same trial. The
third (--calls) has calls for short pieces: nanoseconds (medians) of ours and of ISA-L's, and the time of
ISA-L's as a multiple of ours in the same trial.
"""

from __future__ import annotations

import ctypes.util
import subprocess
import sys
from pathlib import Path

import numpy as np

from bench.build import ROOT, BuildError, compile_program
from bench.options import OneLineParser, start
from bench.result_store import spread, table

HERE = Path(__file__).resolve().parent
DRIVER = ROOT / "build" / "bench" / "checksums"
SHAPES = ((4, 2), (10, 4), (48, 4))
CACHED, DRAM = (4096, 16384), (4096, 16384, 65536, 1048576)
POOL = 512 << 20
#: The checks of the third table, by the number in enum gfsmith_checksum, and its lengths.
CHECKS = {"CRC-32C": 0, "CRC-32": 1, "CRC-64/XZ": 3, "T10": 5}
LENGTHS = (16, 30, 64, 100, 176, 256, 300, 512, 1000, 1024, 2048, 4096, 16384)
CALLS = 1 << 18  #: bytes of a sample of calls, of which each counts as 64 bytes more
SAMPLE = 8 << 20  #: bytes of data of a sample from memory; an eighth of that in cache


def build(name: str, flags: tuple[str, ...], *libraries: str) -> Path:
    """Build a driver with the library. Raises BuildError."""
    subprocess.run(["make", "-s", "lib"], cwd=ROOT, check=True)
    DRIVER.mkdir(parents=True, exist_ok=True)
    sources = [HERE / f"{name}.c", ROOT / "build" / "libgfsmith.a"]
    include = f"-I{ROOT / 'runtime/core/include'}"
    compile_program(DRIVER / name, sources, (include, *flags), [*libraries, "-lpthread"])
    return DRIVER / name


def times(driver: Path, *numbers: int) -> np.ndarray:
    """Return the nanoseconds that a driver prints, trials x ways."""
    done = subprocess.run([driver, *map(str, numbers)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"bench.checksums: {driver.name} {numbers}: {done.stderr.strip()}")
    return np.array([line.split() for line in done.stdout.splitlines()], float)


def measure(driver: Path, k: int, m: int, length: int, memory: bool, trials: int) -> np.ndarray:
    """Return nanoseconds per stripe, trials x ways."""
    turns = max(1, (SAMPLE if memory else SAMPLE // 8) // (k * length))
    return times(driver, k, m, length, POOL if memory else 0, turns, trials)


def row(k: int, m: int, length: int, memory: bool, ns: np.ndarray) -> list[str]:
    """Return the cells of a table row."""
    cells = [f"{k}+{m}, {length:,} B, {'DRAM' if memory else 'cache'}"]
    cells += [f"{k * length / np.median(ns[:, way]):.1f}" for way in (0, 1)]
    return cells + [spread(ns[:, other] / ns[:, 1], 2) for other in (0, 2, 3)]


def scrub_row(length: int, memory: bool, ns: np.ndarray) -> list[str]:
    """Return the cells of a row of the second table."""
    cells = [f"{length:,} B, {'DRAM' if memory else 'cache'}"]
    cells += [f"{length / np.median(ns[:, way]):.1f}" for way in range(3)]
    return cells + [spread(ns[:, other] / ns[:, 1], 2) for other in (0, 2)]


def scrub(trials: int) -> list[str]:
    """Return the lines of the second table. Raises BuildError."""
    driver = build("scrub", ("-O3", "-march=native"))
    cells = [(length, memory) for memory in (False, True) for length in DRAM]
    rows = []
    for length, memory in cells:
        turns = max(1, (SAMPLE if memory else SAMPLE // 8) // length)
        ns = times(driver, length, POOL if memory else 0, turns, trials)
        rows.append(scrub_row(length, memory, ns))
    return list(table(("shard, place", "read", "sketch", "CRC-32C", "of reading", "of CRC-32C"), rows))


def calls_row(driver: Path, length: int, continued: bool, trials: int) -> list[str]:
    """Return the cells of a row of the third table."""
    cells = [f"{length:,}, {'continued' if continued else 'separate'}"]
    for check in CHECKS.values():
        ns = times(driver, check, length, int(continued), CALLS // (length + 64), trials)
        ours, theirs = np.median(ns, axis=0)
        cells.append(f"{ours:.1f}, {theirs:.1f}: {spread(ns[:, 1] / ns[:, 0], 2)}")
    return cells


def calls(trials: int) -> list[str]:
    """Return the lines of the third table. Raises BuildError."""
    driver = build("calls", (), *isal())
    cells = [(length, continued) for continued in (False, True) for length in LENGTHS]
    return list(table(("bytes", *CHECKS), (calls_row(driver, *cell, trials) for cell in cells)))


def isal() -> list[str]:
    """Return the flags that link ISA-L. Raises BuildError if it is missing."""
    if ctypes.util.find_library("isal") is None:
        raise BuildError("libisal is missing: apt-get install libisal-dev")
    return ["-lisal"]


def one_pass(trials: int) -> list[str]:
    """Return the lines of the first table. Raises BuildError."""
    driver = build("driver", (), *isal())
    cells = [(*shape, length, False) for shape in SHAPES for length in CACHED]
    cells += [(*shape, length, True) for shape in SHAPES for length in DRAM]
    rows = (row(*cell, measure(driver, *cell, trials)) for cell in cells)
    titles = ("shape, shard, place", "encode", "one pass", "of encode", "of two passes", "of ISA-L")
    return list(table(titles, rows))


def main() -> int:
    parser = OneLineParser(prog="bench.checksums", description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=60)
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--scrub", action="store_true", help="measure sketches")
    kind.add_argument("--calls", action="store_true", help="measure checksums of short pieces")
    given = parser.parse_args()
    try:
        measured = scrub if given.scrub else calls if given.calls else one_pass
        lines = measured(given.trials)
    except (BuildError, subprocess.CalledProcessError) as error:
        print(f"bench.checksums: {error}", file=sys.stderr)
        return 1
    print(*lines, sep="\n", end="")
    return 0


if __name__ == "__main__":
    start(main)
