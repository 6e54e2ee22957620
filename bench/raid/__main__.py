"""Measure P and Q, computed in three ways, in cache and from memory: the table of docs/raid.md.

Each cell is the median, over interleaved trials, of the time of Horner's rule over that of another way, with
the quartiles: below 1 Horner's rule is faster.
"""

from __future__ import annotations

import ctypes.util
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from bench.options import OneLineParser, start
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


def kernels() -> list[str]:
    manifest = json.loads((BUILD / "gen" / "MANIFEST.json").read_text())
    return [kernel["symbol"] for kernel in manifest["kernels"]]


def kernel(known: Iterable[str], shape: str, isa: str, parameters: str) -> str:
    """Return the kernel of a shape, such as dot_nx2, and an instruction set whose parameters match an
    expression."""
    named = re.compile(rf"gfs_{shape}__{isa}_{parameters}")
    found = [symbol for symbol in known if named.fullmatch(symbol)]
    if len(found) != 1:
        sys.exit(f"bench.raid: {len(found)} kernels are named {named.pattern}; one is needed")
    return found[0]


def contenders(known: Iterable[str], isa: str, k: int, memory: bool) -> dict[str, str]:
    """Return the contenders by their names in the table, in the notation of the driver."""
    other = isa.removeprefix("gfni_")
    four, cached, streaming = r"u4(_steps)?", r"u\d(_steps)?", "u2_nt"
    ways = {
        "Horner, affine": ("horner_nx2", isa, four, ""),
        "Horner, shifts": ("horner_nx2", other, four, ""),
        "dense, affine": ("dot_nx2", isa, cached, ":affine"),
        "dense, nibbles": ("dot_nx2", other, cached, ":nibble"),
        "known matrix, affine": (f"dot_{k}x2_vandermonde", isa, cached, ""),
        "known matrix, nibbles": (f"dot_{k}x2_vandermonde", other, cached, ""),
    }
    if memory:
        ways["Horner, affine, streaming"] = ("horner_nx2", isa, streaming, "")
        ways["dense, affine, streaming"] = ("dot_nx2", isa, streaming, ":affine")
    found = {way: f"{kernel(known, *name)}:{k}:2{table}" for way, (*name, table) in ways.items()}
    return found | {"ISA-L pq_gen": f"pq_gen:{k}:2"}


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
    parser = OneLineParser(prog="bench.raid", description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=200)
    trials = parser.parse_args().trials
    driver = build()
    known = kernels()
    for memory in (False, True):
        for isa in ("gfni_avx512", "gfni_avx2"):
            names = list(contenders(known, isa, 4, memory))
            where = "memory" if memory else "cache"
            print(f"\n{isa} and {isa.removeprefix('gfni_')}, from {where}\n")
            print(f"| k | {names[0]}, GB/s | {' | '.join(names[1:])} |")
            print("|---|" + "---|" * len(names))
            for k in COUNTS:
                given = contenders(known, isa, k, memory)
                print(f"| {k} | {row(measure(driver, given, memory, trials), given, k)} |", flush=True)


if __name__ == "__main__":
    start(main)
