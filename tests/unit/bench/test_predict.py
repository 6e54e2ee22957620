"""The page of predictions: the ratios, the features that a core lacks, the kernels that a peer runs for a
shape.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import other_architectures, predict
from gfsmith.explore.cost_model.assembly import functions
from gfsmith.explore.cost_model.target import TARGETS
from gfsmith.kernel.architecture import Arch

PEER = "ISA-L 2.32.0 neon"
LOOP = """
0000000000000000 <{name}>:
       0: {lookup}
       4: {lookup}
       8: {lookup}
       c: {lookup}
      10: bdnz 0x0 <{name}>
"""


def _figures(ours: float | str, theirs: float | str | None) -> predict.Figures:
    return {(row.name, column): c for row in predict.ROWS for column, c in (("neon", ours), (PEER, theirs))}


def test_a_row_divides_the_peer_by_ours() -> None:
    lines = list(predict._table(_figures(10.0, 12.5)))
    assert lines[0] == f"| | neon | {PEER} | best peer / best of ours |"
    assert "| dot 10x4 | 10.0 | 12.5 | 1.25 |" in lines
    assert "| dot 10x4 | 10.0 | 8.0 | 0.80 |" in list(predict._table(_figures(10.0, 8.0)))


def test_missing_features_of_a_core_are_stated_once() -> None:
    lines = list(predict._table(_figures("has no SVE", 12.5)))
    assert lines[0] == f"| | {PEER} | best peer / best of ours |"
    assert lines[-1] == "\nNot neon: has no SVE." and "\n".join(lines).count("SVE") == 1
    assert "| dot 10x4 | 10.0 |  |" in list(predict._table(_figures(10.0, None)))


@pytest.mark.parametrize(("sources", "outputs"), [(10, 4), (4, 2)])
def test_power_multiplies_the_first_source_and_adds_the_others(sources: int, outputs: int) -> None:
    """For every source there are outputs / sources calls of mul, and mad for all sources but one."""
    mul, mad = other_architectures._vsx("dot", sources, outputs)
    assert (mul.outputs, mul.weight * sources) == (1, outputs)
    assert (mad.outputs, mad.weight * sources) == (outputs, sources - 1)


def test_bytes_per_iteration_follow_from_lookups() -> None:
    """Four lookups for two outputs: two vectors if a product takes one lookup, one if it takes two."""
    made = {}
    for arch, lookup in ((Arch.POWER, "vpermxor 2, 3, 4, 5"), (Arch.RISCV, "vrgather.vv v1, v2, v3")):
        text = LOOP.format(name="f", lookup=lookup)
        part = other_architectures.Part("f", "f.c", 2)
        peer = other_architectures.Peer(
            "p", arch, (), False, lambda *_, p=part: (p,), lambda _, a=arch, t=text: functions(t, TARGETS[a])
        )
        ((weight, loop),) = peer.loops("mad", 1, 2)
        assert weight == 1 and loop.count == 5
        made[arch] = loop.source_bytes
    assert made == {Arch.POWER: 2 * 16, Arch.RISCV: 16}


def test_only_text_between_the_marks_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "predicted.md"
    begin, end = (f"<!-- {predict.PREDICTED}: {mark} -->" for mark in ("begin", "end"))
    path.write_text(f"above\n{begin}\nold\n{end}\nbelow\n")
    monkeypatch.setattr(predict, "PAGE", path)
    monkeypatch.setattr(predict, "page", lambda jobs: "new\n")
    assert predict.main([]) == 0
    assert path.read_text() == f"above\n{begin}\nnew\n{end}\nbelow\n"
    assert [p.name for p in tmp_path.iterdir()] == ["predicted.md"]
