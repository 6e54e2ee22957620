"""README's pictures: they are drawn from the data that they name, and show
cases in which a peer is faster.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench import curves
from tools import pictures, proofs_picture, speed_picture

TEXT = (pictures.PERFORMANCE / speed_picture.PAGE).read_text(encoding="utf-8")


def test_speed_shows_the_measurements_of_the_page() -> None:
    shown = speed_picture.bars(TEXT)
    assert [bar.ratio for bar in shown] == sorted((bar.ratio for bar in shown), reverse=True)
    assert all(bar.low <= bar.ratio <= bar.high for bar in shown)
    rows = [row for table in curves.tables(TEXT).values() for row in table if "ratio" in row]
    assert shown[-1].ratio == min(float(row["ratio"].rstrip("x")) for row in rows), (
        "the least cell is missing"
    )
    drawn = pictures.pictures()["bench/results/speed.svg"]
    assert all(f">{bar.ratio:.2f}<" in drawn and f">{bar.absolute}<" in drawn for bar in shown)


def test_a_missing_cell_is_no_empty_bar() -> None:
    with pytest.raises(ValueError, match="no row '10\\+4 decode'"):
        speed_picture.bars(TEXT.replace("10+4 decode", "10+4 something"))


def test_throughput_needs_the_rows_of_the_page() -> None:
    drawn = curves.draw(TEXT, "znver4")
    assert all("<title>" in text and "touch loop" in text for text in drawn.values())
    with pytest.raises(ValueError, match=r"fewer than 2 rows of 'lch', 'DRAM'"):
        curves.draw(TEXT.replace("10+4 lch | DRAM", "10+4 lch | elsewhere"), "znver4")


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _rows(**changed: Any) -> dict[str, proofs_picture.Row]:
    """Return the rows by instruction set, from the files, some of them replaced."""
    data = {
        "kernels": _json(pictures.PROOFS)["kernels"],
        "objects": _json(pictures.OBJECTS),
        "executed": _json(pictures.EXECUTED),
    }
    return {row.isa: row for row in proofs_picture.rows(**(data | changed))}


def test_proofs_count_the_proved_kernels() -> None:
    kernels, before = _json(pictures.PROOFS)["kernels"], _rows()
    assert all(row.program == row.kernels for row in before.values())
    changed = next(kernel for kernel in kernels if kernel["abi"] == "ms" and kernel["isa"] == "avx2")
    changed["status"] = "refuted"
    after = _rows(kernels=kernels)
    assert after["avx2"].machine == before["avx2"].machine - 1
    assert after["avx2"].program == before["avx2"].program - 1
    assert after["sse"] == before["sse"]


def test_compiled_kernels_are_counted_from_the_record() -> None:
    record, before = _json(pictures.OBJECTS), _rows()
    assert before["neon"].compiled == len(record["neon"]["symbols"]) == before["neon"].kernels
    record["neon"]["symbols"].pop()
    assert _rows(objects=record)["neon"].compiled == before["neon"].compiled - 1


def test_executed_kernels_are_counted_from_the_record() -> None:
    """The tests that execute kernels write the record with --update-golden."""
    record, before = _json(pictures.EXECUTED), _rows()
    assert all(row.executed == row.kernels for row in before.values())
    record["avx2"]["symbols"].pop()
    assert _rows(executed=record)["avx2"].executed == before["avx2"].executed - 1
    del record["neon"]
    assert _rows(executed=record)["neon"].executed == 0


def test_stale_pictures_are_detected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "TOP", tmp_path)
    assert pictures.main(["--check"]) == 1
    assert pictures.main([]) == 0 and pictures.main(["--check"]) == 0
    speed = tmp_path / "bench/results/speed.svg"
    speed.write_text(speed.read_text().replace("GB/s", "TB/s"))
    assert pictures.main(["--check"]) == 1
