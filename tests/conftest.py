"""What all tests share: the flag that rewrites golden files, and the default configuration."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite tests/golden/expected from the generator"
    )


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT
