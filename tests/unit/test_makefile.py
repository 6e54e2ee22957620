"""The Makefile of the checkout."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path


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


def test_tune_without_specs_says_what_to_give(root: Path) -> None:
    command = ["make", "--no-print-directory", "tune"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert done.returncode != 0 and done.stdout == ""
    line = done.stderr.splitlines()[0]
    assert line.startswith(
        'make tune: SPECS is missing; allowed: make tune SPECS="dot:10x4 cauchy:10x4", or '
    )
