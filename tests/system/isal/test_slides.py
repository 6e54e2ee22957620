"""The table of the ISA-L slides from artificial times, and the driver's comparison of parities."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from bench.slides.__main__ import HERE, ROWS, line, measure
from tests.support.paths import ROOT


def test_bytes_of_all_shards_count_and_the_quotient_is_within_rounds() -> None:
    times = np.array([[2.0, 1.0, 2.0], [4.0, 2.0, 4.0], [2.0, 1.0, 2.0]]) * 1e6
    row = line(ROWS[1], times, 18 * 64 * 1000)
    assert row.startswith("| PQ Gen (16+2) | 19.0 | 0.6 (")
    assert row.endswith("| 2.00 (2.00-2.00) |")


@pytest.fixture(scope="module")
def driver(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("slides") / "driver"
    command = ["gcc", "-O1", f"-I{ROOT / 'runtime/core/include'}", HERE / "driver.c", build / "libgfsmith.a"]
    subprocess.run([*command, "-lisal", "-pthread", "-o", program], check=True)
    return program


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.peer)
def test_every_contender_computes_the_same(driver: Path, row: object) -> None:
    assert measure(driver, row, 1 << 20, 2).shape == (2, 3)  # type: ignore[arg-type]


def test_other_parities_are_refused(driver: Path) -> None:
    done = subprocess.run([driver, str(1 << 20), "1", "cauchy:16:2:pq"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "") and "the parities differ" in done.stderr
