"""bench/compose: rounds, results and the page, with a fake fleet without processes and clock."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from bench.compose import __main__ as command
from bench.compose import choices, fits, measure, page, pictures, plan, results, tables
from bench.compose.plan import COMPOSED, INCOHERENT, Cell
from bench.compose.quantiles import verdict
from bench.compose.ycsb.client import Figures
from bench.compose.ycsb.results import study_json
from bench.compose.ycsb.study import ALL, MEMCACHED, STUDIES, Found, Study
from bench.result_store import OtherRun, PageError, Store
from gfsmith.explore.stats import Estimate
from tests.support.bench_graphs import record

Seconds = Callable[[Cell, str], float]


class Table:
    """A fleet with given times; it records every run."""

    def __init__(self, seconds: Seconds) -> None:
        self.seconds, self.chance, self.clock = seconds, random.Random(2), 0.0
        self.cell: Cell | None = None
        self.runs: list[tuple[str, int]] = []

    def open(self, cell: Cell) -> dict[str, Any]:
        assert self.cell is None
        self.cell = cell
        return record(cell)

    def run(self, contender: str, count: int) -> list[tuple[float, float]]:
        assert self.cell is not None and count > 0
        self.runs.append((contender, count))
        weather, times = self.chance.choice((1.0, 1.0, 1.4)), []
        for _ in range(count):
            took = self.seconds(self.cell, contender) * weather * (1 + self.chance.random() / 20)
            times.append((self.clock, self.clock + took))
            self.clock += took / self.cell.window
        return times

    def close(self) -> None:
        self.cell = None


def _slower_by(factor: float) -> Seconds:
    """Return times with composed taking `factor` times as long as incoherent; a line of the model."""

    def seconds(cell: Cell, contender: str) -> float:
        return (2e-9 * cell.length + 2e-4) * (factor if contender == COMPOSED else 1.0)

    return seconds


METHOD = {
    "provider": "tcp",
    "window": plan.WINDOW,
    "effort": asdict(plan.QUICK),
    "ycsb": {"rounds": 3, "records": 320, "threads": 5, "seconds": 2},
}
CELL = Cell("ppr", plan.REPAIR, 6, 3, 8 * plan.KIB)
EFFORT = plan.Effort(rounds=9, milliseconds=2, most=20)

# ---- rounds ----


def test_contenders_alternate_in_changing_order() -> None:
    fleet = Table(_slower_by(1.0))
    found = measure.measure(fleet, CELL, EFFORT)
    rounds = [who for who, _ in fleet.runs[6:]]
    pairs = list(zip(rounds[::2], rounds[1::2], strict=True))
    assert len(pairs) == EFFORT.rounds and set(pairs) == {(COMPOSED, INCOHERENT), (INCOHERENT, COMPOSED)}
    assert all(len(found.rounds[who]) == EFFORT.rounds for who in plan.CONTENDERS)
    assert all(len(some) == found.counts[who] for who in plan.CONTENDERS for some in found.rounds[who])
    assert fleet.cell is None


@pytest.mark.parametrize("length", plan.LENGTHS)
def test_operations_of_a_round_fit_its_time(length: int) -> None:
    cell = Cell("rs", plan.ENCODE, 6, 3, length)
    found = measure.measure(Table(_slower_by(3.0)), cell, EFFORT)
    for who in plan.CONTENDERS:
        took = _slower_by(3.0)(cell, who)
        assert 1 <= found.counts[who] <= EFFORT.most
        assert found.counts[who] * took <= 2 * EFFORT.milliseconds / 1e3 or found.counts[who] == 1


@pytest.mark.parametrize(("factor", "sign"), [(1.5, 1), (0.6, -1)])
def test_a_slower_contender_loses_whichever_it_is(factor: float, sign: int) -> None:
    kept = results.cell_json(measure.measure(Table(_slower_by(factor)), CELL, EFFORT))
    assert kept["ratio"]["p50"][0] == pytest.approx(factor, rel=0.3)
    assert verdict(results.estimate_of(kept["ratio"]["p50"])) == sign
    wide = Cell("ppr", plan.REPAIR, 6, 3, 8 * plan.KIB, window=plan.WINDOW)
    rate = results.cell_json(measure.measure(Table(_slower_by(factor)), wide, EFFORT))
    assert (rate["ratio"][0] < 1) == (factor > 1)


def test_bandwidth_is_that_of_the_paper() -> None:
    """Computed bytes over elapsed time: m chunks of an encoding, one of a repair."""
    times = [(10.0, 11.0), (10.5, 12.0)]
    assert measure.rate(Cell("rs", plan.ENCODE, 6, 3, 1000, window=4), times) == 2 * 3 * 1000 / 2.0
    assert measure.rate(Cell("rs", plan.REPAIR, 6, 3, 1000, window=4), times) == 2 * 1000 / 2.0


# ---- the plan ----


def test_the_paper_s_shapes_and_sizes_are_in_the_plan() -> None:
    cells = plan.cells(quick=False)
    assert len({cell.id for cell in cells}) == len(cells)
    latency = {(c.scheme, c.task, c.shape, c.length) for c in cells if c.window == 1}
    for scheme, tasks in plan.TASKS.items():
        shapes = ("4,2,2", "6,2,2", "12,2,2") if scheme == "lrc" else ("3,2", "6,3", "12,4")
        wanted = {(scheme, task, s, n) for task in tasks for s in shapes for n in plan.LENGTHS}
        assert wanted <= latency
    assert (plan.LENGTHS[0], plan.LENGTHS[-1]) == (128, 16 * plan.MIB)
    assert [cell.ranks for cell in cells] == sorted(cell.ranks for cell in cells)
    assert {
        c.slice for c in cells if c.scheme == "ecpipe" and c.length == plan.STUDIED and c.window == 1
    } == {0 if n == 1 else plan.MIB // n for n in plan.STUDIED_SLICES}


@pytest.mark.parametrize(("length", "bytes_"), [(128, 0), (1024, 0), (2048, 1024), (plan.MIB, plan.MIB // 8)])
def test_slices(length: int, bytes_: int) -> None:
    assert plan.slice_of("ecpipe", length) == bytes_
    assert plan.slice_of("ppr", length) == 0


# ---- results, page and pictures ----


def _study(study: Study, composed: float) -> dict[str, Any]:
    def rounds(speed: float) -> list[Figures]:
        return [Figures(speed * (1 + n / 50), {"p50": 1e6 / speed}, {}, 0, 1000) for n in range(3)]

    speeds = {MEMCACHED: 2e4} if study.scheme == MEMCACHED else {COMPOSED: composed, INCOHERENT: 1000.0}
    return study_json(
        study, Found({w: {who: rounds(s) for who, s in speeds.items()} for w in study.workloads}, {})
    )


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Results of all quick cells and three studies: composed is faster except for
    PPR, and for RS under YCSB.
    """
    path = tmp_path_factory.mktemp("bench") / "results.json"
    store = Store(path, "0123", METHOD, results.TABLES, fresh=False)
    store.content["calc"] = {"6,1,65536": 30000.0, "6,3,65536": 60000.0}
    effort = plan.Effort(rounds=5, milliseconds=2, most=4)
    for cell in plan.cells(quick=True):
        one = measure.measure(Table(_slower_by(2.0 if cell.scheme == "ppr" else 0.7)), cell, effort)
        store.content["graphs"].setdefault(cell.graph, results.graph_json(one))
        store.put("cells", cell.id, results.cell_json(one))
    for study in (STUDIES[0], STUDIES[1], STUDIES[-2]):
        store.put("ycsb", study.id, _study(study, 700.0 if study.scheme == "rs" else 1300.0))
    kept: dict[str, Any] = json.loads(path.read_text())
    assert kept == store.content
    return kept


def test_a_run_resumes(content: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps(content))
    method = METHOD
    assert Store(path, "0123", method, results.TABLES, fresh=False).content == content
    assert Store(path, "0123", method, results.TABLES, fresh=True).content["cells"] == {}
    for library, how in (("4567", method), ("0123", {**method, "provider": "sockets"})):
        with pytest.raises(OtherRun, match="is of another"):
            Store(path, library, how, results.TABLES, fresh=False)


def test_the_page_says_where_composed_loses(content: dict[str, Any]) -> None:
    lost = list(tables.lost(content))
    slow = [c for name, c in content["cells"].items() if name.startswith("latency/ppr/repair/6+3/")]
    assert lost[0].endswith(f" {len(slow)}\n") and slow
    assert sum("PPR 6+3" in line for line in lost) == len(slow)
    assert not any("RS 6+3" in line for line in lost)
    behind = tables.ycsb_lost(content)
    assert behind and all(one.startswith("rs/6+3/none") for one in behind)


def test_the_model_is_fitted_to_measurements(content: dict[str, Any]) -> None:
    found = {graph.id: graph for graph in fits.graphs(content)}
    assert len(found) == 8
    rs = found["rs/encode/6+3"].fits
    assert rs[INCOHERENT].alpha.median == pytest.approx(2e-9, rel=0.3)
    assert rs[COMPOSED].beta.median == pytest.approx(0.7 * 2e-4, rel=0.3)
    rs_, ppr = (fits.projection(found[f"{s}/repair/6+3"], plan.MIB, 1e-10) for s in ("rs", "ppr"))
    assert rs_[0] > ppr[0] > plan.MIB / fits.LINK  # without latency the tree is faster
    assert rs_[1] - rs_[0] == pytest.approx(found["rs/repair/6+3"].fits[COMPOSED].beta.median)


def test_publishing(content: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, target = tmp_path / "results.json", tmp_path / "compose.md"
    kept.write_text(json.dumps(content))
    target.write_text("# Composed\n\nWords.\n")
    monkeypatch.setattr(page, "PAGE", target)
    monkeypatch.setattr(page, "RESULTS", tmp_path)
    page.publish(kept)
    first, drawn = target.read_text(), {p.name: p.read_bytes() for p in tmp_path.glob("*.svg")}
    assert first.startswith("# Composed\n\nWords.\n") and first.count(page.BEGIN) == 1
    assert set(drawn) == {file for file, _, _ in pictures.PICTURES} - {"compose-projection.svg"}
    assert all(f"]({name})" in first for name in drawn)
    for words in ("320 records, 5 clients", "one lost chunk, shard 0"):
        assert words in first
    for words in ("not measured", "Cells in which composed is significantly slower", "Limits of one machine"):
        assert words in first
    page.publish(kept)
    assert target.read_text() == first
    assert {p.name: p.read_bytes() for p in tmp_path.glob("*.svg")} == drawn
    target.write_text(first.replace(page.END, ""))
    with pytest.raises(PageError, match="lacks one of the lines"):
        page.publish(kept)


def test_a_percentile_of_few_operations_is_not_stated(content: dict[str, Any]) -> None:
    for cell in fits.latency_cells(content):
        least = min(cell[who]["operations"] for who in plan.CONTENDERS)
        assert ("p99" in cell["ratio"]) == (least >= 300)
        assert ("p95" in cell["ratio"]) == (least >= 60)


def test_bad_arguments_are_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert command.main(["--list", "--cells", "latency/triec/encode/3+2/*"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert len([line for line in listed if line.startswith("latency/")]) == len(plan.LENGTHS)
    assert {study.id for study in STUDIES} <= set(listed)
    with pytest.raises(SystemExit) as stopped:
        command.main(["--rounds", "3"])
    assert stopped.value.code == 2 and len(capsys.readouterr().err.splitlines()) == 1
    with pytest.raises(SystemExit):
        command.main(["--clients", "0"])
    assert capsys.readouterr().err.endswith("--clients 0; allowed: 1 or more (see --help)\n")
    assert command.main(["--publish", "--out", str(tmp_path / "none.json")]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1


# ---- the choice between composed and incoherent ----


def _faster(content: dict[str, Any], graph: str, slow: set[int]) -> dict[str, Any]:
    """Return results with composed significantly slower at these lengths of a graph, and faster elsewhere."""
    found: dict[str, Any] = json.loads(json.dumps(content))
    for cell in fits.latency_cells(found):
        lost = cell["graph"] == graph and cell["length"] in slow
        cell["ratio"]["p50"] = [1.2, 1.1, 1.3] if lost else [0.8, 0.7, 0.9]
    return found


@pytest.mark.parametrize(
    ("slow", "range_"),
    [
        (set(), (0, choices.UNLIMITED)),
        ({128}, (8 * plan.KIB, choices.UNLIMITED)),
        ({2 * plan.MIB}, (0, 128 * plan.KIB)),
        ({128, 2 * plan.MIB}, (8 * plan.KIB, 128 * plan.KIB)),
        ({8 * plan.KIB}, (128 * plan.KIB, choices.UNLIMITED)),
        ({8 * plan.KIB, 128 * plan.KIB}, (0, 128)),
        ({128, 8 * plan.KIB, 128 * plan.KIB, 2 * plan.MIB}, (1, 0)),
    ],
)
def test_choices_follow_from_measurements(
    content: dict[str, Any], slow: set[int], range_: tuple[int, int]
) -> None:
    graph = "triec/encode/6+3"
    found = {one.scheme + one.task: one for one in choices.choices(_faster(content, graph, slow))}
    assert len(found) == 8
    for name, one in found.items():
        assert (one.least, one.most) == (range_ if name == "triecencode" else (0, choices.UNLIMITED))
    assert (found["lrcrepair"].k, found["lrcrepair"].m) == (6, 4)


def test_a_difference_that_may_be_chance_does_not_change_the_choice(content: dict[str, Any]) -> None:
    found = _faster(content, "", set())
    for cell in fits.latency_cells(found):
        cell["ratio"]["p50"] = [1.2, 0.9, 1.3]
    assert all((one.least, one.most) == (0, choices.UNLIMITED) for one in choices.choices(found))


def test_the_file_of_choices(
    content: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results_, out = tmp_path / "results.json", tmp_path / "choices"
    results_.write_text(json.dumps(_faster(content, "ppr/repair/6+3", {2 * plan.MIB})))
    assert command.main(["--out", str(results_), "--choices", str(out)]) == 0
    assert capsys.readouterr().out == "choices: 1 graphs are incoherent at some lengths\n"
    lines = [line for line in out.read_text().splitlines() if not line.startswith("#")]
    assert f"ppr repair 6 3 0 {128 * plan.KIB}" in lines and len(lines) == 8
    assert command.main(["--out", str(tmp_path / "none"), "--choices", str(out)]) == 1


def test_figures_are_kept_with_the_digits_that_count() -> None:
    assert results.figures(Estimate(1.23456, 1.0, 2.0)) == [1.235, 1.0, 2.0]
    assert any(study.degraded == ALL for study in STUDIES)
