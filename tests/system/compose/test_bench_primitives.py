"""bench/compose/primitives: the engine's counts in a fleet of real processes. The tests read no times."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench.compose.build import HERE
from bench.compose.fleet import Fleet
from bench.compose.primitives import counts
from bench.compose.primitives.__main__ import FILE, PROVIDER
from tests.support.mutation import Mutant
from tests.system.compose.support import Library, with_error

DRIVER = sorted((HERE / "driver").glob("*.c"))
RANKS = max(cell.ranks for cell in counts.CELLS)
SMALL = [cell for cell in counts.CELLS if cell.id in ("latency/ppr/repair/6+3/4096",)]


def _counted(driver: Path, cells: list[Any]) -> dict[str, Any]:
    with Fleet(driver, RANKS, PROVIDER) as fleet:
        return {cell.id: counts.count(fleet, cell) for cell in cells}


def test_the_published_counts_are_counted_again(plain: Library) -> None:
    driver = plain.program("driver", *DRIVER)
    found = _counted(driver, list(counts.CELLS))
    assert json.loads(json.dumps(found)) == json.loads(FILE.read_text())["counts"]


@pytest.mark.parametrize(
    "mutant",
    [
        Mutant("operation->trace.products += $x", "(void)0"),
        Mutant("operation->trace.bytes_sent += $x", "operation->trace.bytes_sent += 1"),
        Mutant("operation->trace.bytes_received += $x", "(void)0"),
        Mutant("operation->trace.writes_sent++", "(void)0"),
    ],
    ids=["products", "sent", "received", "writes"],
)
def test_a_count_that_is_wrong_is_noticed(plain: Library, tmp_path: Path, mutant: Mutant) -> None:
    driver = with_error(plain, mutant, tmp_path, "driver", *DRIVER)
    assert SMALL and _counted(driver, SMALL) != {
        cell.id: json.loads(FILE.read_text())["counts"][cell.id] for cell in SMALL
    }
