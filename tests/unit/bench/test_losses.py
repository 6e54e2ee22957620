"""The cells of `bench --only 'losses/*'`: complete, distinct, and only measured on request."""

from __future__ import annotations

import pytest

from bench import losses
from bench.__main__ import main
from bench.cells import contenders, full

CELLS = losses.cells()


def test_cells_are_distinct_and_no_part_of_other_groups() -> None:
    ids = [cell.id for cell in CELLS]
    assert len(set(ids)) == len(ids) > 30
    assert all(name.startswith("losses/") for name in ids)
    assert not {cell.id for cell in full()} & set(ids)


def test_the_replacement_is_compared_with_isal_and_the_codec() -> None:
    cells = [cell for cell in CELLS if cell.name.startswith("drop-in")]
    assert {cell.length for cell in cells} >= {64, 512, 65536}
    for cell in cells:
        built = contenders(cell, ("isal", "dropin"))
        assert built[0].startswith("dropin:auto") and len(built) == 5


def test_they_are_listed_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list", "--only", "losses/*"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(CELLS)
