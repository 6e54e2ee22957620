"""What all tests share: the flag that rewrites golden files, the default configuration, Ctrl-C."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def pytest_configure() -> None:
    """Ctrl-C reaches the programs under test even where whoever started the tests ignores it (`&`, nohup)."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite tests/golden/expected from the generator"
    )


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT
