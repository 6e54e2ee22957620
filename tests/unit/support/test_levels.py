"""Levels of tests: each test runs in one of them, and a run counts the tests that it leaves out."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.levels import first, sample, share
from tests.support.paths import ROOT

MODULE = """
import pytest
from tests.support.levels import first, sample

@pytest.mark.parametrize("n", sample(first(range(5), 2), 0, 2))
def test(n: int) -> None:
    pass
"""


@pytest.mark.parametrize(
    ("level", "run", "left"),
    [
        ("test", [0], {"campaign": 1, "make test-long": 3}),
        ("rest", [2], {"make test": 1, "make test-long": 3}),
        ("long", [1, 3, 4], {"make test": 1, "campaign": 1}),
    ],
)
def test_each_test_has_one_level(level: str, run: list[int], left: dict[str, int], tmp_path: Path) -> None:
    (tmp_path / "test_five.py").write_text(MODULE)
    plugins = ("-p", "tests.support.levels", "-p", "no:cacheprovider")
    command = (sys.executable, "-m", "pytest", "-v", *plugins, "--rootdir", tmp_path, tmp_path)
    program = "import tests.support.needs as n; n.missing = lambda names: []"
    (tmp_path / "conftest.py").write_text(program)
    done = subprocess.run([*command, "--level", level], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.findall(r"::test\[(\d)\] PASSED", done.stdout) == [str(n) for n in run]
    counted = re.findall(r"^ +(\d+) (.+)$", done.stdout.partition("left out")[2], re.MULTILINE)
    assert {reason: int(count) for count, reason in counted} == left


def test_only_parameters_can_be_kept() -> None:
    marked = sample(first(["a", "b", "c"]), "a", "c")
    assert [[mark.name for mark in getattr(value, "marks", [])] for value in marked] == [
        [],
        ["campaign", "long"],
        ["campaign"],
    ]
    assert [bool(getattr(value, "marks", [])) for value in share("abcde", 2)] == [False, True] * 2 + [False]
    with pytest.raises(AssertionError, match="no parameters"):
        sample(["a", "b"], "c")
