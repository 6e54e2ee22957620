"""python -m bench.stores: streaming stores over ordinary ones on this CPU, by bytes of a shard.

Two copies of the library that differ in one limit encode the same stripes of 10+4 from memory, in turn. The
figures of a CPU belong into gfsmith.kernel.limits (docs/tuning.md).
"""

from __future__ import annotations

import ctypes
import os
import random
import sys
import tempfile
from pathlib import Path

from bench.copies import LIBRARY, STREAMING, Job, Stripes, copy
from bench.options import OneLineParser, start
from gfsmith.kernel import limits, microarch

CODES = {"known matrix": b"cauchy", "tables": b"vandermonde"}


def _library(folder: Path, least: int) -> ctypes.CDLL:
    """Return a copy of the library whose shortest shard with streaming stores has `least` bytes."""

    def change(line: str) -> str:
        if not line.startswith("GFSMITH_TUNED_CPU("):
            return line
        before, _, after = line.rsplit(",", 2)
        return f"{before}, {least},{after}"

    return copy(folder, str(least), change)


def main() -> int:
    OneLineParser(prog="bench.stores", description=(__doc__ or "").splitlines()[0]).parse_args()
    if not LIBRARY.exists():
        print(f"bench.stores: {LIBRARY} is missing; run: make lib", file=sys.stderr)
        return 1
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    random.seed(1)
    print(f"{microarch.host().name}: 10+4 from memory, speed of streaming stores over ordinary ones")
    with tempfile.TemporaryDirectory(prefix="gfsmith-stores-") as name:
        folder = Path(name)
        stripes, libraries = Stripes(folder), [_library(folder, least) for least in (1, 1 << 40)]
        for what, code in CODES.items():
            for length in limits.CANDIDATES:
                stripes.report(what, libraries, Job(code, 10, 4, STREAMING), length)
    return 0


if __name__ == "__main__":
    start(main)
