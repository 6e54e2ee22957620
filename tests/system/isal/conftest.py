"""Fixtures: `make isal` builds the drop-in once; the clients' packages are fetched once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.folders import built, product
from tests.system.isal.support import NATIVE, REAL, STRICT, run


@pytest.fixture(scope="session")
def build() -> Path:
    """The folder with up-to-date libisal.so.2, libisal_ec.a and libgfsmith.a."""
    assert REAL.exists(), "apt-get install libisal-dev"
    return built("isal", "lib")


@pytest.fixture(scope="session")
def shim(build: Path) -> Path:
    return product("libisal.so.2", "isal")


@pytest.fixture(scope="session")
def differential(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that calls two libraries with the same arguments."""
    program = tmp_path_factory.mktemp("differential") / "differential"
    sources = sorted(map(str, NATIVE.glob("*.c")))
    run(["gcc", *STRICT, "-O1", "-g", *sources, "-o", str(program), "-ldl"])
    return program
