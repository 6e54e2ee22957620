"""Valid and invalid calls of many threads and processes on shared codecs: no wrong byte, leak or growth.

GFSMITH_SOAK_SECONDS is the duration; docs/hardening.md states the longest one.
"""

from __future__ import annotations

import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.compiler import Compiler
from tests.support.folders import once
from tests.support.limits import without_limit
from tests.support.paths import ROOT

SOURCE = Path(__file__).resolve().parent / "native/soak.c"
pytestmark = without_limit("GFSMITH_SOAK_SECONDS")

SECONDS = int(os.environ.get("GFSMITH_SOAK_SECONDS", "4"))
PROCESSES, THREADS = 2, 4


@pytest.fixture(scope="module")
def program(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    def make(folder: Path) -> None:
        flags = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", *Compiler.INCLUDES)
        subprocess.run(
            ["cc", *flags, SOURCE, build / "libgfsmith.a", "-pthread", "-o", folder / "soak"],
            cwd=ROOT,
            check=True,
        )

    return once(tmp_path_factory, "soak", make) / "soak"


def soak(program: Path, seconds: int, seed: int, *planted: str) -> subprocess.CompletedProcess[str]:
    command = [program, str(seconds), str(THREADS), str(seed), *planted]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.campaign
def test_threads_and_processes_soak(program: Path) -> None:
    with ThreadPoolExecutor(PROCESSES) as pool:
        runs = list(pool.map(lambda seed: soak(program, SECONDS, seed), range(1, PROCESSES + 1)))
    for done in runs:
        print(done.stdout, end="")
        assert (done.returncode, done.stderr) == (0, "")
        for line in done.stdout.splitlines():
            assert all(int(count) > 0 for count in re.findall(r"\d+", line)), line


@pytest.mark.campaign
@pytest.mark.parametrize(("planted", "found"), [("leak", "mallinfo2"), ("byte", "soak: line")])
def test_planted_errors_are_found(program: Path, planted: str, found: str) -> None:
    done = soak(program, 2, 1, planted)
    assert done.returncode == 1
    assert found in done.stderr
