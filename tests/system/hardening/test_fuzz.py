"""Every fuzz target finds nothing in a number of inputs; each finds a planted error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.system.fuzz.run import targets

#: Number of inputs in which nothing may be found: half a second to two seconds of CPU time.
RUNS = {
    "config": 500,
    "shard": 3000,
    "api": 300,
    "links": 10000,
    "protocol": 10000,
    "client": 2000,
}
#: Branches that must be reached, if not 200: these targets have few.
FEWEST = {"links": 100, "protocol": 100}
#: Number of inputs within which a planted error must be found.
TEETH = {
    "config": 200000,
    "shard": 200000,
    "api": 20000,
    "links": 300000,
    "protocol": 300000,
    "client": 20000,
}


def fuzz(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.system.fuzz.run", "--fresh", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)


def test_all_targets_are_run() -> None:
    assert list(targets()) == list(RUNS) == list(TEETH)


@pytest.mark.parametrize("name", RUNS)
def test_nothing_is_found(build: Path, name: str) -> None:
    """From the committed inputs. A fixed seed and number make CI's result depend only on the change."""
    done = fuzz("--runs", str(RUNS[name]), "--seed", "1", name)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    (line,) = done.stdout.splitlines()
    assert line.startswith(f"{name}: ") and line.endswith(": nothing found")
    runs, branches, _ = (int(word) for word in line.split() if word.isdigit())
    assert runs >= RUNS[name] and branches > FEWEST.get(name, 200)


@pytest.mark.parametrize("seconds", ["x", "0", "-1", "", "1.5"])
def test_another_number_of_seconds_gets_one_line(seconds: str) -> None:
    done = fuzz(f"--seconds={seconds}")
    line = f"fuzz: SECONDS={seconds}; allowed: 1 to 9999999\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", line)


@pytest.mark.parametrize("name", TEETH)
def test_a_planted_error_is_found(build: Path, name: str) -> None:
    done = fuzz("--teeth", "--runs", str(TEETH[name]), "--seed", "1", name)
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"{name}: " in done.stdout and "found something" in done.stdout
