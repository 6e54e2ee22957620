"""README's pictures: they are drawn from the data that they name, and show
cases in which a peer is faster.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import curves
from tests.unit.prove import proved_objects
from tools import pictures

TEXT = pictures.PERFORMANCE.read_text(encoding="utf-8")


def test_speed_shows_the_measurements_of_the_page() -> None:
    shown = pictures.bars(TEXT)
    assert [bar.ratio for bar in shown] == sorted((bar.ratio for bar in shown), reverse=True)
    assert all(bar.low <= bar.ratio <= bar.high for bar in shown)
    assert any(bar.high < 1 for bar in shown), "a case in which a peer is ahead belongs to the picture"
    drawn = pictures.pictures()["bench/results/speed.svg"]
    assert all(f">{bar.ratio:.2f}<" in drawn and f">{bar.absolute}<" in drawn for bar in shown)


def test_a_missing_cell_is_no_empty_bar() -> None:
    with pytest.raises(ValueError, match="no row '10\\+4 decode'"):
        pictures.bars(TEXT.replace("10+4 decode", "10+4 something"))


def test_throughput_needs_the_rows_of_the_page() -> None:
    drawn = curves.draw(TEXT)
    assert all("<title>" in text and "touch loop" in text for text in drawn.values())
    with pytest.raises(ValueError, match=r"fewer than 2 rows of 'lch', 'DRAM'"):
        curves.draw(TEXT.replace("10+4 lch | DRAM", "10+4 lch | elsewhere"))


def test_proofs_count_the_proved_kernels() -> None:
    kernels = json.loads(pictures.PROOFS.read_text())["kernels"]
    before = {row.isa: row for row in pictures.rows(kernels)}
    assert all(row.program == row.kernels for row in before.values())
    changed = next(kernel for kernel in kernels if kernel["abi"] == "ms" and kernel["isa"] == "avx2")
    changed["status"] = "refuted"
    after = {row.isa: row for row in pictures.rows(kernels)}
    assert after["avx2"].machine == before["avx2"].machine - 1
    assert after["avx2"].program == before["avx2"].program - 1
    assert after["sse"] == before["sse"]


def test_compiled_kernels_are_counted_from_the_record(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = json.loads(pictures.PROOFS.read_text())["kernels"]
    record = proved_objects.read()
    before = {row.isa: row for row in pictures.rows(kernels)}
    assert before["neon"].compiled == len(record["neon"]["symbols"]) == before["neon"].kernels
    record["neon"]["symbols"].pop()
    monkeypatch.setattr(proved_objects, "symbols", lambda isa: set(record.get(isa, {}).get("symbols", [])))
    after = {row.isa: row for row in pictures.rows(kernels)}
    assert after["neon"].compiled == before["neon"].compiled - 1


def test_stale_pictures_are_detected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "TOP", tmp_path)
    assert pictures.main(["--check"]) == 1
    assert pictures.main([]) == 0 and pictures.main(["--check"]) == 0
    speed = tmp_path / "bench/results/speed.svg"
    speed.write_text(speed.read_text().replace("GB/s", "TB/s"))
    assert pictures.main(["--check"]) == 1
