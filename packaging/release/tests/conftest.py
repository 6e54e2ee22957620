"""`make test-release PARTS="crate npm"`: only the tests that need no other part of a release."""

from __future__ import annotations

import os

import pytest

from release import parts


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "parts(*names): a test that needs these parts only; else the release")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    built = set(parts.chosen(os.environ.get("PARTS", "").split()))
    if not built:
        return
    left = [item for item in items if not needed(item) <= built]
    items[:] = [item for item in items if needed(item) <= built]
    config.hook.pytest_deselected(items=left)


def needed(item: pytest.Item) -> set[str]:
    mark = item.get_closest_marker("parts")
    return set(mark.args if mark else parts.PARTS)
