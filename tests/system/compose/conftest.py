"""Fixtures: the library with fault injection: without sanitizers, with AddressSanitizer, and with
ThreadSanitizer.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.folders import once
from tests.system.compose.support import Library, archive

SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-O1")
THREADS = ("-fsanitize=thread", "-O1")


def library(factory: pytest.TempPathFactory, build: Path, name: str, *flags: str) -> Library:
    """Return the library with these flags, built once for all tests that use this name."""
    folder = once(factory, f"compose_{name}", lambda made: archive(made, *flags))
    return Library(folder, build, flags)


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory, build: Path) -> Library:
    return library(tmp_path_factory, build, "plain", "-O1")


@pytest.fixture(scope="session")
def sanitized(tmp_path_factory: pytest.TempPathFactory, build: Path) -> Library:
    return library(tmp_path_factory, build, "sanitized", *SANITIZE)


@pytest.fixture(scope="session")
def threaded(tmp_path_factory: pytest.TempPathFactory, build: Path) -> Library:
    return library(tmp_path_factory, build, "threaded", *THREADS)
