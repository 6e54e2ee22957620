"""The files of an output folder when several runs write it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Thread

import pytest

from gfsmith.build import output


def _write(folder: Path, files: Mapping[str, str]) -> None:
    output.write(folder, files, output.manifest([], files))


def test_of_two_runs_at_once_one_writes_all_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first run has found that it must change one file when the second one begins."""
    _write(tmp_path, {"kernels.inc": "old", "isas.inc": "old"})
    commit, runs = output._commit, [{"kernels.inc": "new", "isas.inc": "new"}]
    second: list[Thread] = []

    def slow(folder: Path, stage: Path, changed: Sequence[str], stale: Sequence[str]) -> None:
        if runs:
            second.append(Thread(target=_write, args=(folder, runs.pop())))
            second[0].start()
            second[0].join(0.5)  # without a lock it ends
        commit(folder, stage, changed, stale)

    monkeypatch.setattr(output, "_commit", slow)
    _write(tmp_path, {"kernels.inc": "first", "isas.inc": "old"})
    second[0].join()
    assert [(tmp_path / name).read_text() for name in ("kernels.inc", "isas.inc")] == ["new", "new"]
    files = {"kernels.inc": "new", "isas.inc": "new"}
    assert not output.differences(tmp_path, files | {output.MANIFEST: output.manifest([], files)})
