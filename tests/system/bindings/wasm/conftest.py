"""Fixtures: the package, built once by its Makefile."""

from __future__ import annotations

import os

import pytest

from bench.build_lock import locked
from tests.support.folders import built
from tests.system.bindings.wasm.support import EXAMPLE, call


@pytest.fixture(scope="session")
def package() -> None:
    """bindings/wasm/dist and the objects in build/wasm are up to date."""
    with locked(EXAMPLE / "Makefile"):
        call("make", f"-j{os.cpu_count()}", "-C", EXAMPLE)


@pytest.fixture(scope="session")
def library() -> None:
    """build/libgfsmith.so is up to date."""
    built("lib")
