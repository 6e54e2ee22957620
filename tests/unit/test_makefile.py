"""The Makefile of the checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest


def test_help_lists_targets_that_exist(root: Path) -> None:
    """`make help` prints the comment at the top of the Makefile."""
    shown = subprocess.run(["make", "help"], cwd=root, capture_output=True, text=True, check=True).stdout
    rules = "".join(
        path.read_text()
        for path in (
            root / "Makefile",
            *root.glob("runtime/*/*.mk"),
            *root.glob("apps/*/*.mk"),
            *root.glob("bindings/*/*.mk"),
            *root.glob("packaging/make/*.mk"),
        )
    )
    listed = re.findall(r"^make ([a-z-]+)", shown, re.MULTILINE)
    assert {"help", "gen", "lib", "test", "release"} <= set(listed)
    assert [name for name in listed if not re.search(rf"^(.* )?{name}( .*)?:", rules, re.MULTILINE)] == []
    assert "#" not in shown


def test_the_library_reads_the_list_of_kernels_after_gen(root: Path) -> None:
    """`make gen lib` runs one make for `gen` and another one for `lib`, which reads the new list."""
    for goals, separate in ((["gen", "lib"], True), (["lib"], False)):
        done = subprocess.run(
            ["make", "-n", "-B", *goals], cwd=root, capture_output=True, text=True, check=True
        )
        assert ("--no-print-directory lib" in done.stdout) == separate, goals


def test_compiled_modules_are_kept(root: Path) -> None:
    """Recipes do not inherit the variable with which containers keep Python from writing them."""
    rule = 'probe:; @echo "[$$PYTHONDONTWRITEBYTECODE]"'
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    command = ["make", "--no-print-directory", f"--eval={rule}", "probe"]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_tune_without_specs_says_what_to_give(root: Path) -> None:
    command = ["make", "--no-print-directory", "tune"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert done.returncode != 0 and done.stdout == ""
    line = done.stderr.splitlines()[0]
    assert line.startswith(
        'make tune: SPECS is missing; allowed: make tune SPECS="dot:10x4 cauchy:10x4", or '
    )


@pytest.mark.parametrize("built", [False, True])
def test_the_checks_name_what_is_not_built(root: Path, tmp_path: Path, built: bool) -> None:
    """One line, not the traceback of the first check that imports the codec."""
    (tmp_path / "tools").mkdir()
    shutil.copy(root / "tools/check.sh", tmp_path / "tools")
    if built:
        (tmp_path / ".venv/bin").mkdir(parents=True)
        (tmp_path / ".venv/bin/mypy").touch()
    missing = "bindings/python/gfsmith/codec/_native.abi3.so" if built else ".venv/bin/mypy"
    done = subprocess.run(["sh", "tools/check.sh"], cwd=tmp_path, capture_output=True, text=True)
    line = f"tools/check.sh: {missing} is missing; run make check\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", line)
