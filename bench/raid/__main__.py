"""python -m bench.raid: P and Q computed in three ways, in cache and from memory, as the table of
docs/raid.md.

Each cell is the median, over interleaved trials, of the time of Horner's rule over that of another way, with
the quartiles: below 1 Horner's rule is faster.
"""

from __future__ import annotations

import argparse
import ctypes.util
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np

from bench.result_store import spread

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build" / "bench" / "raid"
COUNTS = (4, 8, 16, 32)
LENGTH = 4096
STRIPES = 1024  #: 48 shards of 4 KiB each: 192 MiB


def build() -> Path:
    """Build the driver with all kernels in it."""
    gfsmith, sources = ROOT / ".venv" / "bin" / "gfsmith", BUILD / "gen"
    subprocess.run([gfsmith, "gen", "-c", HERE / "kernels.toml"], check=True, stdout=subprocess.DEVNULL)
    driver = BUILD / "driver"
    runtime = [ROOT / "runtime/core/src" / name for name in ("field.c", "tables.c")]
    includes = [f"-I{path}" for path in (ROOT / "runtime/core/include", ROOT / "runtime/core/src", sources)]
    command = ["gcc", "-O2", "-Wall", "-Wextra", "-Werror", *includes, HERE / "driver.c", *runtime]
    command += ["-DGFSMITH_SHOW_KERNELS", *sorted((sources / "x86").glob("*.S"))]
    command += ["-o", driver, "-rdynamic", "-ldl"]
    if ctypes.util.find_library("isal") is None:
        sys.exit("bench.raid: libisal is missing: apt-get install libisal-dev")
    subprocess.run([*map(str, command), "-Wl,--no-as-needed", "-lisal"], check=True)
    return driver


def contenders(isa: str, k: int, memory: bool) -> dict[str, str]:
    """Return the contenders by their names in the table, in the notation of the driver."""
    other = isa.removeprefix("gfni_")
    dense = 4 if isa == "gfni_avx512" else 2
    steps = "_steps" if isa == "gfni_avx512" else ""
    found = {
        "Horner, affine": f"gfs_horner_nx2__{isa}_u4{steps}:{k}:2",
        "Horner, shifts": f"gfs_horner_nx2__{other}_u4:{k}:2",
        "dense, affine": f"gfs_dot_nx2__{isa}_u{dense}{steps}:{k}:2:affine",
        "dense, nibbles": f"gfs_dot_nx2__{other}_u{dense}:{k}:2:nibble",
        "known matrix, affine": f"gfs_dot_{k}x2_vandermonde__{isa}_u2:{k}:2",
        "known matrix, nibbles": f"gfs_dot_{k}x2_vandermonde__{other}_u2:{k}:2",
        "ISA-L pq_gen": f"pq_gen:{k}:2",
    }
    if memory:
        found["Horner, affine, streaming"] = f"gfs_horner_nx2__{isa}_u2_nt:{k}:2"
        found["dense, affine, streaming"] = f"gfs_dot_nx2__{isa}_u2_nt:{k}:2:affine"
    return found


def measure(driver: Path, given: dict[str, str], memory: bool, trials: int) -> np.ndarray:
    """Return nanoseconds per call, trials x contenders."""
    stripes, turns = (STRIPES, 64) if memory else (1, 300)
    numbers = map(str, (stripes, LENGTH, turns, trials))
    done = subprocess.run([driver, *numbers, *given.values()], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"bench.raid: {shlex.join(given.values())}: {done.stderr.strip()}")
    return np.array([line.split() for line in done.stdout.splitlines()], float)


def row(times: np.ndarray, given: dict[str, str], k: int) -> str:
    """Return GB/s of the first contender, then its time over that of each other one."""
    cells = [f"{k * LENGTH / np.median(times[:, 0]):.0f}"]
    cells += [spread(times[:, 0] / times[:, column], 2) for column in range(1, len(given))]
    return " | ".join(cells)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.raid", description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=200)
    trials = parser.parse_args().trials
    driver = build()
    for memory in (False, True):
        for isa in ("gfni_avx512", "gfni_avx2"):
            names = list(contenders(isa, 4, memory))
            where = "memory" if memory else "cache"
            print(f"\n{isa} and {isa.removeprefix('gfni_')}, from {where}\n")
            print(f"| k | {names[0]}, GB/s | {' | '.join(names[1:])} |")
            print("|---|" + "---|" * len(names))
            for k in COUNTS:
                given = contenders(isa, k, memory)
                print(f"| {k} | {row(measure(driver, given, memory, trials), given, k)} |", flush=True)


if __name__ == "__main__":
    main()
