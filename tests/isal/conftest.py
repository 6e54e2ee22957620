"""Fixtures: the drop-in is built once, by `make isal`; what clients need is fetched once."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ..shared import locked
from .support import NATIVE, REAL, REPO, STRICT, run


@pytest.fixture(scope="session")
def build() -> Path:
    """The folder with libisal.so.2, libisal_ec.a and libgfsmith.a, up to date."""
    assert REAL.exists(), "apt-get install libisal-dev"
    with locked(REPO / "Makefile"):
        made = subprocess.run(["make", "isal", "lib"], cwd=REPO, capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr
    return REPO / "build"


@pytest.fixture(scope="session")
def shim(build: Path) -> Path:
    return build / "libisal.so.2"


@pytest.fixture(scope="session")
def differential(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that calls two libraries with the same arguments."""
    program = tmp_path_factory.mktemp("differential") / "differential"
    sources = sorted(map(str, NATIVE.glob("*.c")))
    run(["gcc", *STRICT, "-O1", "-g", *sources, "-o", str(program), "-ldl"])
    return program
