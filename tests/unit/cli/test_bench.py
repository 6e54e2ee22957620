"""`gfsmith bench`: figures of a small run, refusals, and a contender that computes other shards."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gfsmith.cli import bench, main
from gfsmith.codec import Codec
from gfsmith.explore.bench import contenders, measure, stripes
from gfsmith.explore.bench.contenders import BenchError, Contender, Work


@pytest.fixture(autouse=True)
def small_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stripes, "POOL", 1 << 20)


def _run(*words: str) -> Result:
    return CliRunner().invoke(main.main, ["bench", *words])


def test_figures_of_all_cells() -> None:
    done = _run("cauchy:4x2", "--block", "1000", "--seconds", "1", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert (found["target"], found["length"]) == ("cauchy:4x2", 1000)
    figures = found["figures"]
    assert {figure["contender"] for figure in figures} >= {"gfsmith", "ISA-L", "Jerasure"}
    cells = {(figure["work"], figure["shards"]) for figure in figures}
    assert cells == {(w, p) for w in ("encode", "reconstruct") for p in ("same stripe", "from memory")}
    for figure in figures:
        rate, ratio = figure["rate"], figure["ratio"]
        assert 0 < rate["low"] <= rate["median"] <= rate["high"] and figure["rounds"] >= 9
        assert figure["contender"] != "gfsmith" or ratio["low"] == ratio["high"] == 1


def test_the_progress_ends_at_the_time_to_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slow contenders need more time than their share for the least number of rounds."""
    steps: list[int] = []
    totals: list[int] = []

    @contextmanager
    def progress(text: str, total: int) -> Iterator[Callable[[int], None]]:
        totals.append(total)
        yield steps.append

    def slow(what: object, place: str, where: object, found: object, share: float, passed: Any) -> list[Any]:
        passed(share / 2)
        passed(7.0)
        return []

    monkeypatch.setattr(bench, "progress", progress)
    monkeypatch.setattr(measure, "measure", slow)
    assert _run("cauchy:4x2", "--block", "64", "--seconds", "9", "--json").exit_code == 0
    assert totals == [9] and sum(steps) == 9 and min(steps) >= 0


@pytest.mark.needs("tune")
def test_the_table_and_a_picture(tmp_path: Path) -> None:
    done = _run("raid6:3x2", "--block", "1k", "--seconds", "1", "--plot", str(tmp_path / "p.svg"))
    assert done.exit_code == 0, done.output
    assert done.stdout.count("gfsmith") >= 4
    picture = (tmp_path / "p.svg").read_text()
    assert "<svg" in picture and "dc:date" not in picture
    assert [path.name for path in tmp_path.iterdir()] == ["p.svg"]


@pytest.mark.needs("tune")
def test_a_picture_that_cannot_be_written_is_refused_before_the_measurement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: list[str] = []
    monkeypatch.setattr(measure, "measure", lambda *_: measured.append("cell") or [])
    (tmp_path / "file").touch()
    done = _run("raid6:3x2", "--block", "1k", "--seconds", "1", "--plot", str(tmp_path / "file" / "p.svg"))
    assert done.exit_code == 2 and done.stderr.count("\n") == 1
    assert str(tmp_path / "file") in done.stderr and not measured


@pytest.mark.parametrize(
    ("words", "allowed"),
    [
        (["cauchy"], "allowed: CODE:KxM"),
        (["lrc:4x2"], "allowed: CODE:KxM"),
        (["nonsense:4x2"], "allowed: vandermonde"),
        (["vandermonde:22x4"], "is not MDS"),
        (["cauchy:254x2"], "no shape 254+2"),
        (["cauchy:0x2"], "no shape 0+2"),
        (["cauchy:4x2", "--block", "0"], "allowed: 1 to 67108864 bytes"),
        (["cauchy:4x2", "--block", "65M"], "allowed: 1 to 67108864 bytes"),
        (["cauchy:4x2", "--seconds", "0"], "1<=x<=3600"),
        (["cauchy:4x2", "--plot", "p.txt"], "allowed: a name that ends in .png"),
    ],
)
def test_refusals_take_one_line(words: list[str], allowed: str) -> None:
    done = _run(*words)
    assert done.exit_code == 2 and done.stderr.count("\n") == 1
    assert allowed in done.stderr


@pytest.mark.parametrize("work", Work)
def test_a_contender_with_other_shards_is_detected(work: Work) -> None:
    what, other = (contenders.task(Codec(code, 5, 3), work) for code in ("cauchy", "backblaze"))
    where = stripes.fill(8, 333)
    contenders.check(what, contenders.find(what), where)
    wrong = Contender("wrong", contenders.ours(other).time)
    with pytest.raises(BenchError, match="wrong and gfsmith compute different shards"):
        contenders.check(what, [contenders.ours(what), wrong], where)


@pytest.mark.parametrize(("shards", "length"), [(6, 1), (14, 4096), (30, 65536), (255, 1 << 16)])
def test_calls_use_all_stripes(shards: int, length: int) -> None:
    where = stripes.fill(shards, length)
    assert where.count >= 4 and where.count * shards * where.pitch == len(where.pool)
    assert math.gcd(stripes.step(where), where.count) == 1
    assert stripes.step(stripes.first(where)) == 0
