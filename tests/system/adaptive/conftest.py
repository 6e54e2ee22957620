"""Fixtures: the coordinator with fake kernels, with and without sanitizers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.folders import once
from tests.system.adaptive.support import OPTANE, archive

SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-O0")
THREADS = ("-fsanitize=thread", "-Wno-tsan", "-O1")


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory, build: Path) -> Path:
    folder = once(tmp_path_factory, "adaptive_plain", lambda made: _archive(made, "-O2"))
    return folder / "libfake.a"


@pytest.fixture(scope="session")
def sanitized(tmp_path_factory: pytest.TempPathFactory, build: Path) -> Path:
    folder = once(tmp_path_factory, "adaptive_sanitized", lambda made: _archive(made, *SANITIZE))
    return folder / "libfake.a"


@pytest.fixture(scope="session")
def threaded(tmp_path_factory: pytest.TempPathFactory, build: Path) -> Path:
    folder = once(tmp_path_factory, "adaptive_threaded", lambda made: _archive(made, *THREADS))
    return folder / "libfake.a"


def _archive(folder: Path, *flags: str) -> None:
    archive(folder, *flags)


@pytest.fixture
def optane(tmp_path: Path) -> Path:
    path = tmp_path / "optane.toml"
    path.write_text(OPTANE)
    return path
