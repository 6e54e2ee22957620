"""README's pictures: they are drawn from the data that they name, and show where a peer is ahead."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from tools import pictures

ROOT = Path(__file__).resolve().parents[2]
TEXT = pictures.PERFORMANCE.read_text(encoding="utf-8")


def test_speed_shows_what_the_page_measured() -> None:
    shown = pictures.bars(TEXT)
    assert [bar.ratio for bar in shown] == sorted((bar.ratio for bar in shown), reverse=True)
    assert all(bar.low <= bar.ratio <= bar.high for bar in shown)
    assert any(bar.high < 1 for bar in shown), "a case in which a peer is ahead belongs to the picture"
    drawn = pictures.pictures()["speed.svg"]
    assert all(f">{bar.ratio:.2f}<" in drawn and f">{bar.absolute}<" in drawn for bar in shown)


def test_a_missing_cell_is_no_empty_bar() -> None:
    with pytest.raises(ValueError, match="no row '10\\+4 decode'"):
        pictures.bars(TEXT.replace("10+4 decode", "10+4 something"))


def test_proofs_count_what_is_proved() -> None:
    kernels = json.loads(pictures.PROOFS.read_text())["kernels"]
    before = {row.isa: row for row in pictures.rows(kernels)}
    assert all(row.program == row.kernels for row in before.values())
    changed = next(kernel for kernel in kernels if kernel["abi"] == "ms" and kernel["isa"] == "avx2")
    changed["status"] = "refuted"
    after = {row.isa: row for row in pictures.rows(kernels)}
    assert after["avx2"].machine == before["avx2"].machine - 1
    assert after["avx2"].program == before["avx2"].program - 1
    assert after["sse"] == before["sse"]


def test_compiled_sets_are_those_that_tests_prove() -> None:
    tree = ast.parse((ROOT / "tests" / "prove" / "test_aarch64.py").read_text())
    aarch64 = next(
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "ISAS"
    )
    power = 'spec.isa.name == "vsx")' in (ROOT / "tests" / "prove" / "test_power.py").read_text()
    assert (*aarch64, *(("vsx",) if power else ())) == pictures.COMPILED


def test_stale_pictures_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "FOLDER", tmp_path)
    assert pictures.main(["--check"]) == 1
    assert pictures.main([]) == 0 and pictures.main(["--check"]) == 0
    (tmp_path / "speed.svg").write_text((tmp_path / "speed.svg").read_text().replace("GB/s", "TB/s"))
    assert pictures.main(["--check"]) == 1
