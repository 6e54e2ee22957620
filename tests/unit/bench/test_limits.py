"""The page and the plot of searched limits, from recorded results."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from bench import cells, limits
from bench.build import Built
from bench.run import Samples
from gfsmith.kernel.microarch import BY_NAME
from tests.support.paths import ROOT

LOOPS = ROOT / "bench/driver/loops.c"


def _cell(regime: str = "resident", length: int = 4096, **changed: Any) -> dict[str, Any]:
    cell = {
        "code": "10+4 cauchy", "where": f"{regime} {length}", "k": 10, "m": 4, "length": length,
        "regime": regime, "gfsmith": 80.0, "peer": "isal:x", "peers": {"isal:x": 40.0}, "limit": 100.0,
        "missing": [], "loop": "l8-p0T0-st", "share": {"median": 0.8, "low": 0.7, "high": 0.9}, "dense": 60.0,
        "clock": 3.5, "port_bound": 85.0, "predicted": 84.0, "kernels": ["gfs"], "ratio": None,
    }  # fmt: skip
    return cell | changed


def _recorded(*found: dict[str, Any]) -> dict[str, Any]:
    return {"cpu": "znver4", "machine": "a machine", "set": "gfni_avx512", "cells": list(found)}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, "ports"),
        ({"gfsmith": 90.0}, "accesses and ports"),
        ({"gfsmith": 90.0, "port_bound": 200.0}, "accesses"),
        ({"gfsmith": 90.0, "port_bound": None}, "accesses"),
        ({"gfsmith": 70.0}, "neither"),
    ],
)
def test_a_limit_binds_from_90_percent_on(changed: dict[str, Any], expected: str) -> None:
    assert limits.binding(_cell(**changed)) == expected


def test_required_shares_depend_on_regime_and_length() -> None:
    places = (("resident", 4096), ("dram", 1024), ("dram", 4096), ("dram", 65536))
    assert [limits.required(_cell(*where)) for where in places] == [0.9, 0.9, 0.95, 0.95]


def test_the_page_counts_the_cells_that_reach_their_share() -> None:
    share = {"median": 0.93, "low": 0.9, "high": 1.0}
    text = limits.page(_recorded(_cell(), _cell(share=share), _cell("dram", 65536, share=share)))
    assert "1 of 3 cells reach the required share" in text
    assert "| 10+4 cauchy | resident 4096 | 80.0 | 40.0 | 100.0 | `l8-p0T0-st` | 0.80 (0.70..0.90) |" in text
    assert "| 60.0 | 85.0 | 84.0 | ports |" in text
    without = limits.page(_recorded(_cell(peer=None, port_bound=None, predicted=None)))
    assert "| 80.0 | - | 100.0 |" in without and "| 60.0 | - | - | neither |" in without


def test_cells_that_are_not_measured_again_keep_their_results() -> None:
    before = _recorded(_cell(), _cell(code="8+8 cauchy"), _cell("dram", 1024))
    new = _recorded(_cell(code="8+8 cauchy", gfsmith=50.0), _cell(code="16+8 lch"))
    found = limits.merged(before, new)["cells"]
    assert [(cell["code"], cell["where"], cell["gfsmith"]) for cell in found] == [
        ("10+4 cauchy", "resident 4096", 80.0),
        ("8+8 cauchy", "resident 4096", 50.0),
        ("10+4 cauchy", "dram 1024", 80.0),
        ("16+8 lch", "resident 4096", 80.0),
    ]
    assert limits.merged(before | {"machine": "another machine"}, new) == new


def test_cells_without_a_peer_are_marked_and_have_no_peer_in_the_plot() -> None:
    partial = _cell(missing=["rust", "klauspost"])
    text = limits.page(_recorded(_cell(), partial))
    assert "| 80.0 | 40.0 |" in text and "| 80.0 | 40.0* |" in text
    assert "*: without klauspost, rust, which were not built" in text
    assert "not built" not in limits.page(_recorded(_cell()))
    assert limits._peer(partial) is None and limits._peer(_cell()) == 40.0
    cell = next(c for c in cells.table() if c.code == "cauchy")
    missing = {"klauspost": "no Go", "dropin": "not built"}
    assert limits._missing(cell, Built(ROOT, missing=missing)) == ["klauspost"]


def test_a_roofline_has_a_panel_for_each_place() -> None:
    drawn = limits.draw(_recorded(_cell(), _cell("dram", 65536)))
    assert all(f">{title}<" in drawn for title in ("resident 4096", "dram 65536"))
    assert all(label in drawn for label in ("fastest peer", "port bound of dense products"))
    assert drawn == limits.draw(_recorded(_cell(), _cell("dram", 65536)))


def test_every_searched_loop_is_in_the_driver() -> None:
    rows = re.findall(r"X\(lines, (\d+), (\w+)\)", LOOPS.read_text(encoding="utf-8"))
    lines = re.findall(r"PREFETCHES\(X, (\d)\)", LOOPS.read_text(encoding="utf-8"))
    made = {f"limit:l{n}-p{at}{hint}-{how}" for n in lines for at, hint in rows for how in ("st", "nt")}
    cell = next(c for c in cells.table() if c.regime == "resident")
    usual = {name for name in cells.contenders(cell, ()) if name.startswith("limit:")}
    assert set(limits._loops(cell)) == made | usual


def test_the_final_has_the_fastest_loops_of_the_search() -> None:
    times = {f"limit:{n}": [float(n), 100.0, float(n)] for n in (5, 3, 9, 1, 7, 2)} | {"gfsmith:x": [0.1] * 3}
    found = limits._fastest(Samples(cells.table()[0], ns=times))
    assert found == ("limit:1", "limit:2", "limit:3", "limit:5")


def test_a_cell_is_modelled_by_the_kernel_that_dispatch_takes() -> None:
    from gfsmith.build import config, tuned

    loaded = config.load(ROOT / "gfsmith.toml")
    specs, prefix = config.specs(loaded, "gfsmith.toml"), loaded.generator.prefix
    rows = tuned.load(loaded.generator.tuned, ROOT, specs, prefix).rows

    def symbols(code: str, k: int, m: int, place: tuple[str, int], cpu: str = "znver4") -> list[str]:
        cell = cells.Cell(group="table", code=code, k=k, m=m, regime=place[0], length=place[1])
        found = limits._specs(cell, specs, rows, prefix, BY_NAME[cpu])
        return [spec.symbol for spec in found]

    (cached,) = symbols("cauchy", 10, 4, ("resident", 4096))
    assert cached.startswith("gfs_dot_10x4_cauchy__gfni_avx512")
    (memory,) = symbols("cauchy", 10, 4, ("dram", 65536))
    assert memory.endswith("_nt")
    (tables,) = symbols("vandermonde", 48, 4, ("resident", 4096))
    assert tables.startswith("gfs_dot_48x4__gfni_avx512"), "the code is not MDS at this shape"
    (decode,) = symbols("decode", 10, 4, ("resident", 4096))
    assert decode.startswith("gfs_dot_10x4__gfni_avx512")
    (own,) = symbols("cauchy", 28, 4, ("resident", 4096), "znver5")
    assert own in {r.spec.symbol for r in rows if r.cpu.name == "znver5" and r.path == "second" and r.added}
    (exact,) = symbols("decode", 6, 3, ("resident", 16384), "znver5")
    assert exact.startswith("gfs_dot_6x3__gfni_avx512"), "a kernel tuned for any number of sources yields"


def test_recorded_pages_are_those_of_their_figures(tmp_path: Path) -> None:
    recorded = sorted(limits.FOLDER.glob("*.json"))
    assert recorded
    for file in recorded:
        (tmp_path / file.name).write_bytes(file.read_bytes())
    assert limits.main(["--draw", "--folder", str(tmp_path)]) == 0
    for file in recorded:
        for suffix in (".md", ".svg"):
            drawn = (tmp_path / file.name).with_suffix(suffix).read_text()
            assert drawn == file.with_suffix(suffix).read_text()
