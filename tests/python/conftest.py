"""The codec's extension and its wheel, made by `make python` as anyone makes them."""

from __future__ import annotations

import fcntl
import subprocess
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]


def _made() -> Path:
    """The wheel in dist/, up to date, and so the extension that `import gfsmith` finds here."""
    # One at a time: pytest-xdist has several sessions at once.
    with (REPO / "Makefile").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = subprocess.run(["make", "python"], cwd=REPO, capture_output=True, text=True)
    if made.returncode != 0:
        raise RuntimeError(f"make python:\n{made.stdout}{made.stderr}")
    (found,) = (REPO / "dist").glob("gfsmith-*.whl")
    return found


#: Before the tests are collected, which have parameters from the codec.
WHEEL = _made()


@pytest.fixture(scope="session")
def wheel() -> Path:
    return WHEEL
