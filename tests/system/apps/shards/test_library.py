"""The library of shards, called from C: wrong arguments, failing streams and failing allocations."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.mutation import Mutant, plant
from tests.support.paths import ROOT
from tests.system.apps.shards.support import FLAGS, INCLUDES, NATIVE, call

SOURCES = sorted((ROOT / "runtime/shards/src").glob("*.c"))
SANITIZE = ("-O0", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
WRAP = "-Wl,--wrap=malloc,--wrap=calloc,--wrap=aligned_alloc"

#: Errors in the library that the program must detect.
MUTANTS = (
    Mutant("job->status", "(atomic_int){0}", within="fail"),
    Mutant("fail(job, GFSMITH_SHARDS_EWRITE);", ";"),
    Mutant("sources[p].read == NULL", "false"),
    Mutant("job->sinks[i].write != NULL", "false"),
    Mutant("i < GFSMITH_MAX_SHARDS", "i < GFSMITH_MAX_SHARDS - 1", within="has_wanted"),
    Mutant("lanes == NULL", "false"),
    Mutant("job->lanes[index].from != NULL", "false", everywhere=True),
    Mutant("shards[i].write == NULL", "false"),
)


def run(folder: Path, build: Path, *flags: str, sources: list[Path]) -> subprocess.CompletedProcess[str]:
    program, library = folder / "library", build / "libgfsmith.a"
    words = (*FLAGS, *flags, *INCLUDES, f"-I{ROOT / 'runtime/shards/src'}", WRAP)
    call("gcc", *words, NATIVE / "library.c", *sources, library, "-lpthread", "-o", program)
    return subprocess.run([program], capture_output=True, text=True)


def test_errors_are_returned(build: Path, tmp_path: Path) -> None:
    done = run(tmp_path, build, *SANITIZE, sources=SOURCES)
    assert (done.stdout, done.stderr, done.returncode) == ("ok\n", "", 0)


@pytest.mark.campaign
@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_an_error_is_detected(build: Path, tmp_path: Path, mutant: Mutant) -> None:
    original, wrong = plant(mutant, SOURCES, tmp_path)
    others = [path for path in SOURCES if path != original]
    assert run(tmp_path, build, "-w", sources=[wrong, *others]).returncode != 0
