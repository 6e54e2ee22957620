"""Fixtures: the library as `make lib` builds it, and a compiler of C programs that use it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.compiler import Compiler
from tests.support.folders import built


@pytest.fixture(scope="session")
def build() -> Path:
    """The folder with up-to-date libgfsmith.a and libgfsmith.so."""
    return built("lib")


@pytest.fixture
def compiler(build: Path, tmp_path: Path) -> Compiler:
    return Compiler(build, tmp_path)
