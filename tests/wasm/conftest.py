"""Fixtures: the package, built once by its Makefile."""

from __future__ import annotations

import fcntl
import os

import pytest

from .support import EXAMPLE, REPO, call


@pytest.fixture(scope="session")
def package() -> None:
    """examples/wasm/dist and the objects in build/wasm are up to date."""
    with (EXAMPLE / "Makefile").open() as lock:  # pytest-xdist has several sessions at once
        fcntl.flock(lock, fcntl.LOCK_EX)
        call("make", f"-j{os.cpu_count()}", "-C", EXAMPLE)


@pytest.fixture(scope="session")
def library() -> None:
    """build/libgfsmith.so is up to date."""
    with (REPO / "Makefile").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        call("make", "lib")
