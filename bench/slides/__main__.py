"""python -m bench.slides: the cold-cache rows for erasure codes in "Storage acceleration with ISA-L".

The slides' cold tests make passes over a data set that is larger than the last-level cache, and ISA-L's tests
count the bytes of all shards, sources and parities. The slides' figures are those of a Xeon E5-2650 v4 at
2.1 GHz. This bench makes the same passes with ISA-L and with gfsmith's library, in turn, in one process.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.build import BuildError, compile_program
from bench.machine import describe
from bench.options import OneLineParser, start
from bench.result_store import spread

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build" / "bench" / "slides"
BYTES = 256 << 20  #: all shards of a stripe; eight times the last-level cache of the machine measured


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the slides: title, gfsmith's code, shape, ISA-L's function, and the slides' GB/s."""

    name: str
    code: str
    k: int
    m: int
    peer: str
    slides: float


ROWS = (
    Row("Reed Solomon EC (10+4)", "cauchy", 10, 4, "ec", 5.3),
    Row("PQ Gen (16+2)", "raid6", 16, 2, "pq", 19.0),
    Row("XOR Gen (16+1)", "vandermonde", 16, 1, "xor", 21.5),
)
COLUMNS = ("function", "slides, GB/s", "ISA-L", "gfsmith", "gfsmith, streaming", "best gfsmith / ISA-L")


def build(folder: Path) -> Path:
    """Build the driver with the library of this tree and the system's ISA-L. Raises BuildError."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["make", "-s", "lib"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    sources = [HERE / "driver.c", ROOT / "build" / "libgfsmith.a"]
    include = f"-I{ROOT / 'runtime/core/include'}"
    compile_program(folder / "driver", sources, (include,), ["-lisal", "-pthread"])
    return folder / "driver"


def measure(driver: Path, row: Row, bytes_: int, trials: int) -> np.ndarray:
    """Return nanoseconds of a pass, trials x (gfsmith, gfsmith with the streaming hint, ISA-L)."""
    command = [str(driver), str(bytes_), str(trials), f"{row.code}:{row.k}:{row.m}:{row.peer}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"bench.slides: {row.name}: {done.stderr.strip()}")
    return np.array([line.split() for line in done.stdout.splitlines()], float)


def line(row: Row, times: np.ndarray, bytes_: int) -> str:
    """Return a row of the table: GB/s with quartiles, and ISA-L's time over gfsmith's within the trials."""
    total = bytes_ // (row.k + row.m) // 64 * 64 * (row.k + row.m)
    plain, streaming, isal = (total / times[:, n] for n in range(3))
    best = plain if np.median(plain) > np.median(streaming) else streaming
    cells = [row.name, f"{row.slides:.1f}", *(spread(each, 1) for each in (isal, plain, streaming))]
    return f"| {' | '.join([*cells, spread(best / isal, 2)])} |"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = OneLineParser(prog="bench.slides", description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--bytes", type=int, default=BYTES, help="of all shards of a stripe")
    given = parser.parse_args(arguments)
    try:
        driver = build(BUILD)
    except (BuildError, subprocess.CalledProcessError) as error:
        sys.exit(f"bench.slides: {error}")
    print(describe())
    print(f"\n| {' | '.join(COLUMNS)} |")
    print("|---" * len(COLUMNS) + "|")
    for row in ROWS:
        print(line(row, measure(driver, row, given.bytes, given.trials), given.bytes), flush=True)


if __name__ == "__main__":
    start(main)
