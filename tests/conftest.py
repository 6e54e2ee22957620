"""Options of all tests: --update-golden, the default configuration, Ctrl-C."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.support.paths import ROOT

pytest_plugins = ["tests.support.levels"]


def pytest_configure() -> None:
    """Let Ctrl-C reach the programs under test even if the parent process ignores it (`&`, nohup)."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite tests/unit/golden/expected from the generator"
    )


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT
