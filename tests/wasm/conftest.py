"""Fixtures: the package, built once by its Makefile."""

from __future__ import annotations

import os

import pytest

from ..shared import locked
from .support import EXAMPLE, REPO, call


@pytest.fixture(scope="session")
def package() -> None:
    """examples/wasm/dist and the objects in build/wasm are up to date."""
    with locked(EXAMPLE / "Makefile"):
        call("make", f"-j{os.cpu_count()}", "-C", EXAMPLE)


@pytest.fixture(scope="session")
def library() -> None:
    """build/libgfsmith.so is up to date."""
    with locked(REPO / "Makefile"):
        call("make", "lib")
