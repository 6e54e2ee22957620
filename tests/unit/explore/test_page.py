"""The report of studies whose figures are known, since a formula computes them: its rows, plots and page."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from gfsmith.explore.tune import page, plots, result, variants
from gfsmith.explore.tune.result import Bound, Phase, Regime, Study
from tests.support.paths import ROOT
from tests.unit.explore.synthetic import DISTANCES, LENGTHS, UNROLLS, gain, study

SMALL = study(shapes=((8, 4), (12, 4)), lengths=LENGTHS[:2])
TRIED = len(UNROLLS) * len(DISTANCES) - 1  # (8, 1024) was not tried
EMPTY = Study(SMALL.microarchitecture, SMALL.basis, complete=False, confidence=0.95, seconds=0.0)


def _columns(name: str, rows: list[variants.Row]) -> set[variants.Value]:
    return {row[name] for row in rows}


def test_each_variant_of_a_cell_has_one_row_with_the_figures_of_its_final() -> None:
    rows = variants.rows([SMALL])
    assert len(rows) == len(SMALL.winners) * TRIED
    assert sum(row["phase"] == "final" for row in rows) == len(SMALL.winners)
    assert [row for row in rows if row["result"] == "winner"] == [r for r in rows if r["phase"] == "final"]
    for row in rows:
        regime = Regime.CACHED if row["path"] == "cached" else Regime.MEMORY
        speed = gain(int(str(row["unroll"])), int(str(row["prefetch"])), regime)
        assert row["speed"] == pytest.approx(speed, rel=1e-4)
        assert row["kernel"] == ("reference" if (row["unroll"], row["prefetch"]) == (1, 0) else "variant")
        assert set(row) >= {column.name for column in variants.COLUMNS}


def test_a_row_states_shares_of_the_limits_and_predicted_cycles() -> None:
    (cell,) = {w.cell for w in SMALL.winners if w.cell.path == "distant" and w.cell.length == 4096} - {
        w.cell for w in SMALL.winners if w.cell.shape == "8x4"
    }
    (won,) = (w for w in SMALL.winners if w.cell == cell)
    (row,) = (r for r in variants.rows([replace(SMALL, winners=(won,))]) if r["result"] == "winner")
    (bound,) = (b for b in SMALL.bounds if b.cell == cell)
    assert bound.memory and bound.ports
    assert row["memory"] == pytest.approx(100 * won.rate.median / bound.memory, rel=1e-4)
    assert row["ports"] == pytest.approx(100 * won.rate.median / bound.ports, rel=1e-4)
    assert row["limit"] == bound.memory < bound.ports
    told = {p.symbols: p for p in SMALL.predictions if p.target == cell.target}[won.symbols]
    assert (row["cycles"], row["model"]) == (pytest.approx(told.cycles, rel=1e-4), told.cpu)
    texts = {name: variants.text(row, name) for name in ("length", "speed", "memory", "settings")}
    assert texts["length"] == "4 KiB" and texts["settings"] == "u2, prefetch 1024 t0"
    assert re.fullmatch(r"1\.350 \(1\.323 \.\. 1\.377\)", texts["speed"])
    assert texts["memory"] == f"{100 * won.rate.median / bound.memory:.0f}"


def test_the_prediction_for_the_study_s_own_cpu_counts() -> None:
    others = tuple(replace(p, cpu="znver4", cycles=1.0) for p in SMALL.predictions)
    for told in ((*others, *SMALL.predictions), (*SMALL.predictions, *others)):
        rows = variants.rows([replace(SMALL, predictions=told)])
        assert _columns("model", rows) == {"sapphirerapids"}
    assert _columns("model", variants.rows([replace(SMALL, predictions=others)])) == {"znver4"}


def test_without_limits_and_predictions_the_columns_are_empty() -> None:
    unknown = tuple(Bound(b.cell, None, None) for b in SMALL.bounds)
    for bare in (replace(SMALL, bounds=(), predictions=()), replace(SMALL, bounds=unknown, predictions=())):
        rows = variants.rows([bare])
        for name in ("memory", "ports", "limit", "cycles"):
            assert _columns(name, rows) == {None}
            assert variants.text(rows[0], name) == ""
        assert [p["name"] for p in _models(plots.document(rows), "Figure")] == ["length"]
    half = tuple(Bound(b.cell, None, 40.0) for b in SMALL.bounds)
    assert _columns("limit", variants.rows([replace(SMALL, bounds=half)])) == {40.0}


def test_tied_variants_and_cells_without_a_final() -> None:
    first, *others = SMALL.winners
    mine = [m.symbol for m in SMALL.measurements if m.cell == first.cell and m.phase is Phase.SEARCH]
    tied = replace(first, tied=(first.symbol, mine[0], mine[1]))
    rows = variants.rows([replace(SMALL, winners=(tied, *others[1:]))])
    found = {row["symbol"]: row for row in rows if row["target"] == first.cell.target}
    cell = [r for r in rows if (r["target"], r["path"], r["length"]) == (tied.cell.target, "cached", 1024)]
    assert sorted(str(r["result"]) for r in cell) == [*["other"] * (TRIED - 3), "tied", "tied", "winner"]
    assert {str(r["symbol"]) for r in cell if r["result"] == "tied"} == {mine[0], mine[1]} <= set(found)
    assert sum(row["result"] == "no final" for row in rows) == TRIED
    assert {row["mark"] for row in cell} == {"reference", "winner", "tied", "other"}


def test_recorded_studies_show_winners_whose_measurements_they_lack() -> None:
    files = sorted((ROOT / "bench/results/studies/znver4").glob("*.json"))
    studies = [result.read(file) for file in files]
    rows = variants.rows(studies)
    for each in studies:
        mine = variants.rows([each])
        assert sum(row["result"] == "winner" for row in mine) == len(each.winners)
    known = {(id(s), m.cell, m.symbol) for s in studies for m in s.measurements}
    won = {(id(s), w.cell, w.symbol) for s in studies for w in s.winners}
    assert len(rows) == len(known | won) > len(known)
    assert _columns("width", rows) == {256, 512, "unknown"}, "older files lack the width"


def test_filters_offer_the_values_in_order_and_no_column_with_one_value() -> None:
    far = replace(study(shapes=((4, 2),), lengths=LENGTHS[:1]), microarchitecture="znver4")
    offered = variants.choices(variants.rows([SMALL, far]))
    assert offered == {
        "cpu": ["sapphirerapids", "znver4"],
        "shape": ["4x2", "8x4", "12x4"],
        "path": ["cached", "distant"],
        "length": [1024, 4096],
        "kernel": ["reference", "variant"],
        "result": ["other", "winner"],
        "phase": ["final", "search"],
        "unroll": [1, 2, 4, 8],
        "prefetch": [0, 256, 1024],
        "outputs": [2, 4],
    }
    assert variants.choices(
        [{**row, "width": w} for row in variants.rows([far]) for w in (512, "auto", 256)]
    )["width"] == [256, 512, "auto"]


def _models(value: Any, kind: str) -> list[dict[str, Any]]:
    """Return the attributes of all models of a kind in a document."""
    if isinstance(value, list):
        return [found for item in value for found in _models(item, kind)]
    if not isinstance(value, dict):
        return []
    own = [value["attributes"]] if value.get("name") == kind and "attributes" in value else []
    return own + _models(list(value.values()), kind)


def _document(text: str) -> dict[str, Any]:
    found = re.search(r'<script id="document" type="application/json">(.*?)</script>', text, re.DOTALL)
    assert found
    document: dict[str, Any] = json.loads(found[1])
    return document


def test_the_page_embeds_the_rows_in_the_order_of_its_table() -> None:
    bare = replace(SMALL, bounds=SMALL.bounds[1:])
    missing = {"type": "number", "value": "nan"}
    rows = variants.rows([bare])
    text = page.render([bare])
    (source,) = _models(_document(text), "ColumnDataSource")
    data = dict(source["data"]["entries"])
    assert {name: list(values) for name, values in data.items()} == {
        name: [missing if row[name] is None else row[name] for row in rows] for name in rows[0]
    }
    (filter_,) = _models(_document(text), "IndexFilter")
    assert filter_["indices"] == list(range(len(rows)))
    shown = [re.findall(r"<td>(.*?)</td>", line) for line in text.splitlines() if '<td class="mark">' in line]
    assert shown == [[variants.text(row, c.name) for c in variants.COLUMNS] for row in rows]
    assert [p["name"] for p in _models(_document(text), "Figure")] == ["length", "limit", "cycles"]


def test_the_same_studies_give_the_same_bytes() -> None:
    text = page.render([SMALL])
    plots.document(variants.rows([EMPTY, SMALL]))
    assert page.render([SMALL]) == text


def test_texts_of_a_study_cannot_end_an_element() -> None:
    evil = "</script><b>&"
    found = page.render([replace(SMALL, microarchitecture=evil)])
    assert evil not in found.replace(plots.library(), "")
    (source,) = _models(_document(found), "ColumnDataSource")
    assert dict(source["data"]["entries"])["cpu"][0] == evil


def test_an_empty_study() -> None:
    text = page.render([EMPTY])
    assert "Nothing was measured" in text and "Interrupted" in text and "<script" not in text
    assert "Interrupted" in page.render([SMALL, EMPTY]) and "Interrupted" not in page.render([SMALL])


class _Links(HTMLParser):
    """All resources that a page would load."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [
            value or "" for name, value in attrs if name in ("src", "href", "srcset", "data", "action")
        ]


def _links(text: str) -> list[str]:
    parser = _Links()
    parser.feed(text)
    return parser.found


def test_the_page_needs_nothing_else() -> None:
    text = page.render([SMALL])
    assert _links(text) == []
    own = text.replace(plots.library(), "")
    assert "http:" not in own and "https:" not in own and "@import" not in own and "url(" not in own
    assert _links('<img src="https://example.org/x.png">') == ["https://example.org/x.png"]
    assert not re.search(r"\b20\d\d-\d\d|/root/|/work/|/tmp/", own)


def test_an_old_report_is_replaced_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "report"
    assert page.write([EMPTY], folder) == folder / page.PAGE
    page.write([EMPTY, EMPTY], folder)
    assert (folder / page.PAGE).read_text().count("Interrupted") == 2
    assert [p.name for p in folder.iterdir()] == [page.PAGE]
    assert [p.name for p in tmp_path.iterdir()] == ["report"]

    (folder / "notes.txt").write_text("mine")
    with pytest.raises(page.PageError, match=r"holds 'notes.txt'; allowed: a new folder"):
        page.write([EMPTY], folder)
    (folder / "notes.txt").unlink()
    (folder / page.PAGE).write_text("my page")
    with pytest.raises(page.PageError, match="not a report of gfsmith"):
        page.write([EMPTY], folder)
    assert (folder / page.PAGE).read_text() == "my page"
    with pytest.raises(page.PageError, match="not a folder"):
        page.write([EMPTY], folder / page.PAGE)


def test_a_failure_leaves_the_folder_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "report"
    page.write([EMPTY], folder)
    before = (folder / page.PAGE).read_bytes()

    def full(*_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(page, "render", full)
    with pytest.raises(page.PageError, match="No space left on device"):
        page.write([EMPTY], folder)
    assert (folder / page.PAGE).read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["report"]
