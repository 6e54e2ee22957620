"""python -m bench.tuned: the gain of each entry of this CPU's tuned file, in calls of the library.

Two copies of the library run the same calls in turn; one does not use the tuned kernels. An entry that gains
nothing here does not belong into the file (docs/tuning.md).
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench.build import ROOT
from bench.copies import CACHED, LIBRARY, STREAMING, Job, Stripes, copy
from bench.options import OneLineParser, start
from gfsmith.build import target as targets
from gfsmith.build import tuned
from gfsmith.build.target import Target
from gfsmith.kernel import limits, microarch
from gfsmith.kernel.isa import ISAS
from gfsmith.kernel.limits import Limits
from gfsmith.kernel.spec import Operation, Technique

LENGTHS = (64, 256, 1024, 4096, 16384, 65536)  #: bytes of a shard
_ROW = "GFSMITH_TUNED("
_ANY = 11  #: sources of kernels for any number: no kernel for a fixed number serves them
_UPDATED = 3  #: the same for mad
_SHARDS = 5  #: data shards of the codecs that are updated


def is_measured(entry: tuned.Entry) -> bool:
    """Return True if a codec's calls run the kernel of this entry. bench.wide, bench.raid and
    `make bench-isal` measure the others: kernels of wide codes and of RAID, and those that read ISA-L's
    tables."""
    return entry.spec.split(":")[0] not in targets.UNSEARCHED and entry.technique != Technique.ISAL.value


def job(target: Target, path: str) -> Job:
    """Return the call that runs the kernel of a target."""
    hint = CACHED if path in targets.CACHED else STREAMING
    if target.code is not None:
        return Job(target.code.encode(), target.sources, target.outputs, hint)
    if target.operation is Operation.MAD:
        matrix = np.random.default_rng(2).integers(2, 256, _SHARDS * target.outputs).astype(np.uint8)
        return Job(matrix, _SHARDS, target.outputs, hint, target.inputs or _UPDATED)
    sources = target.inputs or _ANY
    least = 1 if target.operation is Operation.XOR else 2
    matrix = np.random.default_rng(2).integers(least, 256 if least > 1 else 2, sources * target.outputs)
    return Job(matrix.astype(np.uint8), sources, target.outputs, hint)


def lengths(target: Target, path: str, work: Job, known: Limits) -> list[int]:
    """Return the lengths of shards for which the call takes this path on a CPU with these limits."""
    same = replace(target, inputs=work.updated or work.k)
    return [n for n in LENGTHS if targets.path_of(same, path not in targets.CACHED, n, known) == path]


def _without(line: str) -> str:
    """Return a line of tuned.inc as for a CPU that no machine has: dispatch then takes no tuned kernel."""
    return 'GFSMITH_TUNED("none", ' + line.split(",", 1)[1].lstrip() if line.startswith(_ROW) else line


def main() -> int:
    OneLineParser(prog="bench.tuned", description=(__doc__ or "").splitlines()[0]).parse_args()
    cpu = microarch.host()
    path = ROOT / "tuned" / f"{cpu.name}.toml"
    for needed, how in ((LIBRARY, "make lib"), (path, "gfsmith tune")):
        if not needed.exists():
            print(f"bench.tuned: {needed} is missing; run: {how}", file=sys.stderr)
            return 1
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    random.seed(1)
    known = limits.of(cpu)
    print(f"{cpu.name}: speed of tuned kernels over the others, in calls of the library")
    with tempfile.TemporaryDirectory(prefix="gfsmith-tuned-") as folder:
        stripes = Stripes(Path(folder))
        libraries = [copy(Path(folder), "with", str), copy(Path(folder), "without", _without)]
        for entry in filter(is_measured, tuned.read(path).kernel):
            target = targets.parse(entry.spec, ISAS[0])
            work = job(target, entry.path)
            for length in lengths(target, entry.path, work, known):
                stripes.report(f"{entry.spec} {entry.path}", libraries, work, length)
    return 0


if __name__ == "__main__":
    start(main)
