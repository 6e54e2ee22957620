"""Fixtures: the example, generated once for all processes of pytest-xdist, and a program with its kernels."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.folders import once
from tests.system.bindings.go.support import Project, fresh


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The example; tests must not change it."""
    return Project(once(tmp_path_factory, "golang", lambda folder: fresh(folder).go("generate", "./...")))


@pytest.fixture(scope="session")
def program(project: Project, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The linked tests of the package without cgo."""
    path = tmp_path_factory.mktemp("linked") / "suite"
    project.go("test", "-c", "-o", path, "./gfsmith", CGO_ENABLED="0")
    return path
