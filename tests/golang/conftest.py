"""Fixtures: the example, generated once for all processes of pytest-xdist, and a program with its kernels."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from .support import Project, fresh


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Not to be changed."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = shared / "golang"
    with (shared / "golang.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            made = fresh(folder)
            made.go("generate", "./...")
            (folder / "done").touch()
    return Project(folder)


@pytest.fixture(scope="session")
def program(project: Project, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tests of the package without cgo, linked."""
    path = tmp_path_factory.mktemp("linked") / "suite"
    project.go("test", "-c", "-o", path, "./gfsmith", CGO_ENABLED="0")
    return path
