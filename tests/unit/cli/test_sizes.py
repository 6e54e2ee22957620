"""Numbers of bytes in options."""

from __future__ import annotations

import pytest

from gfsmith.cli.sizes import parse


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1", 1), ("4096", 4096), ("64K", 1 << 16), ("64k", 1 << 16), ("1m", 1 << 20), ("2G", 2 << 30)],
)
def test_units_are_powers_of_1024(text: str, expected: int) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize("text", ["", "0", "K", "1T", "1KB", "-1", "1.5M", " 1"])
def test_other_texts_are_no_sizes(text: str) -> None:
    assert parse(text) is None
