"""Fixtures: `make jerasure` builds the drop-in once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.folders import built, product
from tests.system.jerasure.support import REAL


@pytest.fixture(scope="session")
def build() -> Path:
    """The folder with up-to-date libJerasure.so.2 and libgfsmith.a."""
    assert REAL.exists(), "apt-get install libjerasure-dev"
    return built("jerasure", "lib")


@pytest.fixture(scope="session")
def shim(build: Path) -> Path:
    return product("libJerasure.so.2", "jerasure")
