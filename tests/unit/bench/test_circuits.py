"""Counts and port bounds of circuits, on shapes small enough to check by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import circuits
from bench.circuits import CPUS, Count, Row, bound, page, result

BY_NAME = {cpu.name: cpu for cpu in CPUS}


def test_the_busiest_set_of_ports_binds() -> None:
    shuffles = Count((("logic", 3), ("shift", 1), ("shuffle", 8)), vectors=2, constants=2, stores=1)
    assert bound(BY_NAME["Haswell"], shuffles) == 8  # one port shuffles
    assert bound(BY_NAME["Zen 3"], shuffles) == 4.5  # shuffles and shifts on two ports
    sums = Count((("affine", 2), ("logic", 10)), vectors=2, constants=2, stores=1)
    assert bound(BY_NAME["Zen 4"], sums) == 6
    assert bound(BY_NAME["Zen 5"], sums) == 3


def test_loads_and_stores_bind_too() -> None:
    moves = Count((("logic", 1),), vectors=4, constants=2, stores=3)
    assert bound(BY_NAME["Zen 4"], moves) == 6  # a store of 64 bytes takes two cycles
    assert bound(BY_NAME["Zen 5"], moves) == 3


def test_a_raid_matrix_and_its_page() -> None:
    row = Row("vandermonde", 3, 2, "gfni_avx512")
    found = result(row)
    # 1 1 1 and 1 2 4: two products and three-input sums of three sources each; dense: six products.
    assert found.own.of("affine") == 2
    assert found.own.of("logic") == 2
    assert found.dense.of("affine") == 6
    assert found.own.stores == 2
    made = page({row: found})
    assert "| `vandermonde` | `gfni_avx512` | 2 | 3 |" in made
    assert "| 3 | dense | 2 |" in made


def test_each_code_has_its_place_on_the_page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Shapes that are not MDS are left out, and the tables of other codes stay."""
    target = tmp_path / "page.md"
    marks = "<!-- {0}: begin -->\nold {0}\n<!-- {0}: end -->\n"
    target.write_text(marks.format("cauchy") + marks.format("vandermonde"))
    monkeypatch.setattr(circuits, "PAGE", target)
    monkeypatch.setattr(circuits, "SHAPES", ((4, 2), (32, 4)))
    circuits.main(["--codes", "vandermonde"])
    cauchy, vandermonde = target.read_text().split("<!-- cauchy: end -->")
    assert "old cauchy" in cauchy
    assert "old vandermonde" not in vandermonde
    assert "| `vandermonde` | `gfni_avx512` | 2 | 4 |" in vandermonde
    assert "4 parities" not in vandermonde
