"""Measure the Go module that replaces klauspost/reedsolomon next to the original, in one process.

    python -m bench.replacement [--rounds 31] [--cells REGEXP]

Prints rows as CSV: with one goroutine a call, on one CPU, then with the default, both at real-time priority.
The kernels must have been generated: `go generate .` in bindings/go/reedsolomon.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from bench.build import ROOT
from bench.options import OneLineParser, start

HERE = Path(__file__).parent
MODULE = ROOT / "bindings" / "go" / "reedsolomon"
COPY = ROOT / "build" / "bench" / "replacement"
PEER, NAME = "github.com/klauspost/reedsolomon", "gfsmith.example/replacement"


def renamed() -> None:
    """Copy the module with another path, since a program cannot contain two modules of the same one."""
    shutil.rmtree(COPY, ignore_errors=True)
    shutil.copytree(MODULE, COPY, ignore=shutil.ignore_patterns("*_test.go", ".*"))
    for path in (COPY / "go.mod", *COPY.rglob("*.go")):
        path.write_text(path.read_text(encoding="utf-8").replace(PEER, NAME), encoding="utf-8")


def main() -> int:
    parser = OneLineParser(prog="bench.replacement", description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--cells", default="", help="regular expression, such as ^Encode,10,4,")
    options = parser.parse_args()
    flags = [f"-rounds={options.rounds}", f"-cells={options.cells}"]
    generated = MODULE / "internal" / "codec"
    if not generated.is_dir():
        print(f"bench.replacement: {generated} is missing; run: go generate . in {MODULE}", file=sys.stderr)
        return 1
    renamed()
    program = COPY.with_suffix(".program")
    environment = {**os.environ, "GOFLAGS": "-buildvcs=false", "GOTOOLCHAIN": "local"}
    subprocess.run(["go", "build", "-o", program, "."], cwd=HERE, env=environment, check=True)
    priority = ["chrt", "-f", "10"]
    subprocess.run([*priority, "taskset", "-c", "1", program, *flags, "-serial"], check=True)
    subprocess.run([*priority, program, *flags], check=True)
    return 0


if __name__ == "__main__":
    start(main)
