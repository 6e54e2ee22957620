"""The proofs of checksums are cached for the routines and tables as they are, not for the code that makes
them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gfsmith.build import checksum_proofs, checksums, sources
from gfsmith.build.generate import Refuted


def test_the_key_of_the_proofs_counts_no_code_that_makes_routines() -> None:
    found = sources.sources((checksum_proofs.__name__,))
    packages = {name.split(".")[1] for name in found.modules if "." in name}
    assert packages == {"build", "field", "ir", "prove"}
    assert {name for name in found.modules if name.startswith("gfsmith.build.")} == {
        "gfsmith.build.checksum_proofs",
        "gfsmith.build.parallel",
    }
    assert "gfsmith.prove.machine" not in found.modules


def test_other_routines_and_tables_are_proved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, proofs = list(checksums.routines()), []
    tables = checksums.tables
    monkeypatch.setattr(checksums, "build", lambda *_: {})
    monkeypatch.setattr(checksum_proofs, "prove_all", lambda *task: proofs.append(task))
    for changed in (made, made, [replace(made[0], block=made[0].block + 1), *made[1:]], made):
        monkeypatch.setattr(checksums, "routines", lambda changed=changed: changed)
        checksums._generate(1, tmp_path / "checksums.json")
    assert [len(routines) for _, routines, _, _ in proofs] == [len(made)] * 2
    monkeypatch.setattr(checksums, "tables", lambda check: replace(tables(check), powers=(1,)))
    checksums._generate(1, tmp_path / "checksums.json")
    assert len(proofs) == 3


def test_a_refuted_routine_is_not_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    word = next(routine for routine in checksums.routines() if routine.operation == "word")
    wrong = replace(
        word, head=tuple(replace(each, text="1") if each.text == "0" else each for each in word.head)
    )
    monkeypatch.setattr(checksums, "routines", lambda: (wrong,))
    for _ in range(2):
        with pytest.raises(Refuted):
            checksums._generate(1, tmp_path / "checksums.json")
    assert not (tmp_path / "checksums.json").exists()
