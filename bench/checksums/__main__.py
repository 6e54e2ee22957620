"""python -m bench.checksums: the tables of docs/checksums.md.

The first has parities and the CRC-32C of all shards: GB/s of source data (medians), and the speed of one pass
over that of encoding alone, of two passes and of ISA-L's two passes (crc32_iscsi) in the same trial: the
median, with the quartiles; two passes of klauspost/reedsolomon and Go's hash/crc32 are the last. The second
(--scrub) has the sketch of a shard: GB/s (medians) of reading alone,
of the sketch and of the CRC-32C, and the speed of the sketch over that of the others in the same trial. The
third (--calls) has calls for short pieces: nanoseconds (medians) of ours and of ISA-L's, and the time of
ISA-L's as a multiple of ours in the same trial. The fourth (--alone) has whole buffers: GB/s of ours, and its
speed over that of other libraries.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import itertools
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bench.build import ROOT, BuildError, compile_program, peer
from bench.options import OneLineParser, start
from bench.result_store import spread, table

HERE = Path(__file__).resolve().parent
DRIVER = ROOT / "build" / "bench" / "checksums"
SHAPES = ((4, 2), (10, 4), (48, 4))
CACHED, DRAM = (4096, 16384), (4096, 16384, 65536, 1048576)
POOL = 512 << 20
#: The checks of the third table, by the number in enum gfsmith_checksum, and its lengths.
CHECKS = {"CRC-32C": 0, "CRC-32": 1, "CRC-64/XZ": 3, "T10": 5}
LENGTHS = (16, 64, 70, 256, 400, 512, 1000, 4096)
CALLS = 1 << 18  #: bytes of a sample of calls, of which each counts as 64 bytes more
SAMPLE = 8 << 20  #: bytes of data of a sample from memory; an eighth of that in cache


#: The checks of the fourth table by number, and the libraries that have them: names, files, functions.
ALONE = {"CRC-32C": 0, "CRC-32": 1, "CRC-64/NVME": 2}
LIBRARIES = {
    "ISA-L": ("alone", "sum_isal", ("CRC-32C", "CRC-32")),
    "crc-fast": ("checksums", "sum_crc_fast", tuple(ALONE)),
    "crc32fast": ("checksums", "sum_crc32fast", ("CRC-32",)),
    "zlib-ng": ("checksums", "sum_zlib_ng", ("CRC-32",)),
    "Go hash/crc32": ("klauspost", "sum_go", ("CRC-32C", "CRC-32")),
}


def build(name: str, flags: tuple[str, ...], *libraries: str) -> Path:
    """Build a driver with the library. Raises BuildError."""
    subprocess.run(["make", "-s", "lib"], cwd=ROOT, check=True)
    DRIVER.mkdir(parents=True, exist_ok=True)
    sources = [HERE / f"{name}.c", ROOT / "build" / "libgfsmith.a"]
    includes = [f"-I{ROOT / folder}" for folder in ("runtime/core/include", "bench/driver")]
    compile_program(DRIVER / name, sources, (*includes, *flags), [*libraries, "-lpthread", "-ldl"])
    return DRIVER / name


def times(driver: Path, *numbers: int | Path) -> np.ndarray:
    """Return the nanoseconds that a driver prints, trials x ways."""
    done = subprocess.run([driver, *map(str, numbers)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"bench.checksums: {driver.name} {numbers}: {done.stderr.strip()}")
    return np.array([line.split() for line in done.stdout.splitlines()], float)


def measure(driver: Path, other: Path, k: int, m: int, length: int, memory: bool, trials: int) -> np.ndarray:
    """Return nanoseconds per stripe, trials x ways."""
    turns = max(1, (SAMPLE if memory else SAMPLE // 8) // (k * length))
    return times(driver, k, m, length, POOL if memory else 0, turns, trials, other)


def row(k: int, m: int, length: int, memory: bool, ns: np.ndarray) -> list[str]:
    """Return the cells of a table row."""
    cells = [f"{k}+{m}, {length:,} B, {'DRAM' if memory else 'cache'}"]
    cells += [f"{k * length / np.median(ns[:, way]):.1f}" for way in (0, 1)]
    return cells + [spread(ns[:, other] / ns[:, 1], 2) for other in (0, 2, 3, 4)]


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
    driver, other = build("driver", (), *isal()), peer("klauspost", lambda _: None)
    cells = [(*shape, length, False) for shape in SHAPES for length in CACHED]
    cells += [(*shape, length, True) for shape in SHAPES for length in DRAM]
    rows = (row(*cell, measure(driver, other, *cell, trials)) for cell in cells)
    titles = ("shape, shard, place", "encode", "one pass", "of encode", "of two passes", "of ISA-L", "of Go")
    return list(table(titles, rows))


class Buffers(ctypes.Structure):
    """checksum_buffers."""

    _fields_ = (
        ("base", ctypes.c_void_p),
        ("order", ctypes.c_void_p),
        ("count", ctypes.c_size_t),
        ("len", ctypes.c_size_t),
        ("pitch", ctypes.c_size_t),
    )


def functions(check: str) -> dict[str, Callable[[Any], int]]:
    """Return the functions that have a check, by library, ours first. Raises BuildError."""
    own = build("alone", ("-shared", "-fPIC"), *isal())
    paths = {"alone": own, **{name: peer(name, lambda _: None) for name in ("checksums", "klauspost")}}
    found: dict[str, Callable[[Any], int]] = {}
    for name, (library, function, checks) in {"": ("alone", "sum_gfsmith", (check,)), **LIBRARIES}.items():
        if check in checks:
            sums = getattr(ctypes.CDLL(str(paths[library])), function)
            sums.restype = ctypes.c_uint64
            found[name] = lambda buffers, sums=sums: sums(ALONE[check], ctypes.byref(buffers))
    return found


def timed(sums: Callable[[Any], int], buffers: Any) -> tuple[float, int]:
    """Return the nanoseconds of CPU time of a call, and its result."""
    start = time.process_time_ns()
    result = sums(buffers)
    return time.process_time_ns() - start, result


def alone_row(check: str, length: int, pool: np.ndarray, memory: bool, trials: int) -> list[str]:
    """Return the cells of a row of the fourth table."""
    rng, found, pitch = np.random.default_rng(length), functions(check), length + 128
    count = SAMPLE // length
    spans = len(pool) // pitch if memory else 1

    def sample(sums: Callable[[Any], int], order: np.ndarray) -> tuple[float, int]:
        return timed(sums, Buffers(pool.ctypes.data, order.ctypes.data, count, length, pitch))

    order = rng.integers(0, spans, count, dtype=np.uint32)
    if len({sample(sums, order)[1] for sums in found.values()}) > 1:
        sys.exit(f"bench.checksums: {check}: the checksums differ")
    ns = np.zeros((trials, len(found)))
    for trial, n in itertools.product(range(trials), range(len(found))):
        which = (trial + n) % len(found)
        order = rng.integers(0, spans, count, dtype=np.uint32)  # others are in the cache
        ns[trial, which] = sample(list(found.values())[which], order)[0]
    ratios = {name: spread(ns[:, n] / ns[:, 0], 2) for n, name in enumerate(found)}
    cells = [f"{check}, {length:,} B, {'DRAM' if memory else 'cache'}"]
    cells.append(f"{count * length / np.median(ns[:, 0]):.1f}")
    return cells + [ratios.get(name, "-") for name in LIBRARIES]


def alone(trials: int) -> list[str]:
    """Return the lines of the fourth table. Raises BuildError."""
    pool = np.random.default_rng(1).integers(0, 256, POOL, dtype=np.uint8)
    cells = [(check, length, memory) for check in ALONE for memory in (False, True) for length in DRAM]
    rows = (alone_row(check, length, pool, memory, trials) for check, length, memory in cells)
    return list(table(("check, bytes, place", "GB/s", *(f"over {name}" for name in LIBRARIES)), rows))


def main() -> int:
    parser = OneLineParser(prog="bench.checksums", description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=60)
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--scrub", action="store_true", help="measure sketches")
    kind.add_argument("--calls", action="store_true", help="measure checksums of short pieces")
    kind.add_argument("--alone", action="store_true", help="measure checksums of long pieces")
    given = parser.parse_args()
    kinds = {scrub: given.scrub, calls: given.calls, alone: given.alone}
    try:
        measured = next((each for each, chosen in kinds.items() if chosen), one_pass)
        lines = measured(given.trials)
    except (BuildError, subprocess.CalledProcessError) as error:
        print(f"bench.checksums: {error}", file=sys.stderr)
        return 1
    print(*lines, sep="\n", end="")
    return 0


if __name__ == "__main__":
    start(main)
