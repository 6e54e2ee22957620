"""Options of all tests: --update-golden, the default configuration, Ctrl-C."""

from __future__ import annotations

import atexit
import gc
import signal
from pathlib import Path

import pytest

from gfsmith.__main__ import COLLECT_AFTER
from tests.support.paths import ROOT

pytest_plugins = ["tests.support.levels"]


def pytest_configure() -> None:
    """Let Ctrl-C reach the programs under test even if the parent process ignores it (`&`, nohup). Collect
    garbage rarely: the collection of tests makes objects that all live until the end.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.set_threshold(*COLLECT_AFTER)


def pytest_collection_finish() -> None:
    """Keep the collector of garbage from the tests themselves, which live until the end."""
    gc.freeze()


#: Lets extensions destroy their objects at the end, after pytest's own searches for garbage.
atexit.register(gc.unfreeze)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite tests/unit/golden/expected from the generator"
    )


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT
