"""The programs that measure refuse wrong arguments in one line, before they measure or write, and end quietly
when the reader of their output leaves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gfsmith.cli.console import CLOSED_PIPE
from tests.support.paths import ROOT

#: Every program of bench/ and research/, which run by `python -m`: those with a main.
PROGRAMS = sorted(
    str(path.relative_to(ROOT)).removesuffix(".py").removesuffix("/__main__").replace("/", ".")
    for folder in ("bench", "research")
    for path in (ROOT / folder).rglob("*.py")
    if 'if __name__ == "__main__"' in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_wrong_option_is_one_line(program: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", program, "--nosuch"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"{program}: unrecognized arguments: --nosuch (see --help)\n"


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tracked files alone: nothing is built."""
    folder = tmp_path_factory.mktemp("clone")
    command = ("git", "ls-files", "-z", "bench", "research", "tools", "generator", "bindings/python")
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for path in listed.split("\0")[:-1]:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, folder / path)
    return folder


@pytest.mark.parametrize("program", PROGRAMS)
def test_help_needs_nothing_built_and_no_reader(program: str, clone: Path) -> None:
    """The reader of a pipe may leave, as `| head -1` does."""
    paths = {"PYTHONPATH": f"{clone / 'generator'}:{clone / 'bindings' / 'python'}"}
    command = (sys.executable, "-m", program, "--help")
    environment = os.environ | paths
    whole = subprocess.run(command, cwd=clone, env=environment, capture_output=True, text=True, timeout=60)
    assert (whole.returncode, whole.stderr) == (0, "")
    assert whole.stdout.startswith(f"usage: {program} ")
    end, left = os.pipe()
    os.close(end)
    done = subprocess.run(
        command, cwd=clone, env=environment, stdout=left, stderr=subprocess.PIPE, timeout=60
    )
    os.close(left)
    assert (done.returncode, done.stderr) == (CLOSED_PIPE, b"")


def test_programs_are_found() -> None:
    expected = {
        "bench",
        "bench.limits",
        "bench.stores",
        "bench.tuned",
        "bench.wide",
        "bench.python.overhead",
        "research.memory",
    }
    assert expected <= set(PROGRAMS)
