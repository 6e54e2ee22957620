"""Every example in docstrings and in docs/python.md runs, and so do the files that mypy checks."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import gfsmith.codec

HERE = Path(__file__).parent
MODULES = [
    "gfsmith.codec",
    *(f"gfsmith.codec.{found.name}" for found in pkgutil.iter_modules(gfsmith.codec.__path__)),
]


def test_docstrings() -> None:
    results = [doctest.testmod(importlib.import_module(name)) for name in MODULES]
    assert sum(result.failed for result in results) == 0
    assert sum(result.attempted for result in results) > 15


@pytest.mark.parametrize(("page", "least"), [("python.md", 30), ("batches.md", 4), ("wide.md", 7)])
def test_the_pages(page: str, least: int, root: Path) -> None:
    failed, attempted = doctest.testfile(str(root / "docs" / page), module_relative=False)
    assert failed == 0 and attempted > least


@pytest.mark.parametrize("name", ["typed_use.py", "typed_numpy.py"])
def test_typed_files_run(name: str) -> None:
    done = subprocess.run([sys.executable, HERE / name], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
