"""Folders that all processes of one test run share, and builds by `make` in one process at a time."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from bench.build_lock import locked
from tests.support.paths import ROOT


def shared_folder(factory: pytest.TempPathFactory) -> Path:
    """Return the temporary folder that all processes of pytest-xdist share."""
    base = factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """Return a folder that `make` fills once for all processes of pytest-xdist."""
    folder = shared_folder(factory) / name
    folder.mkdir(exist_ok=True)
    made = folder / "made"
    with locked(folder.with_suffix(".lock")):
        if not made.exists():
            make(folder)
            made.touch()
    return folder


@cache
def built(*targets: str) -> Path:
    """Run `make` for these targets and return the folder build/ of the checkout."""
    with locked(ROOT / "Makefile"):
        done = subprocess.run(["make", *targets], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return ROOT / "build"


def product(name: str, *targets: str) -> Path:
    """Return a file that `make` builds for these targets, or the one in the folder GFSMITH_TEST_BUILD: the
    same with other flags (tools/coverage).
    """
    folder = os.environ.get("GFSMITH_TEST_BUILD")
    return (Path(folder) if folder else built(*targets)) / name
