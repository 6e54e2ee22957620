"""Every fuzz target runs for 2 seconds and finds nothing; each finds a planted error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT

NAMES = ("config", "shard", "api", "links", "protocol", "client")
SECONDS = 2
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


def test_nothing_is_found(build: Path) -> None:
    """All targets at once, from the committed inputs. A fixed seed makes CI's result depend only on the
    change.
    """
    done = fuzz("--seconds", str(SECONDS), "--seed", "1")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert [line.split(":")[0] for line in lines] == list(NAMES)
    for line in lines:
        assert line.endswith(": nothing found")
        runs, branches, _ = (int(word) for word in line.split() if word.isdigit())
        assert runs > 100 and branches > FEWEST.get(line.split(":")[0], 200)


@pytest.mark.parametrize("seconds", ["x", "0", "-1", "", "1.5"])
def test_another_number_of_seconds_gets_one_line(seconds: str) -> None:
    done = fuzz(f"--seconds={seconds}")
    line = f"fuzz: SECONDS={seconds}; allowed: 1 to 9999999\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", line)


@pytest.mark.parametrize("name", NAMES)
def test_a_planted_error_is_found(build: Path, name: str) -> None:
    done = fuzz("--teeth", "--runs", str(TEETH[name]), "--seed", "1", name)
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"{name}: " in done.stdout and "found something" in done.stdout
