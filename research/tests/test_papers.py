"""Test of research/papers: modelled and measured figures are in the results, and no row is unfinished."""

from __future__ import annotations

import json
import re

import pytest

from bench.build import ROOT
from research.memory.__main__ import RESULTS
from research.memory.measurements import measured

PAPERS = ROOT / "research" / "papers"
CLAIMS = json.loads(RESULTS.read_text(encoding="utf-8"))["claims"]
#: Figures whose claims have the name of an observation.
OBSERVATIONS = {3: 1, 5: 3, 6: 4, 7: 5}
FIGURE = re.compile(r"(\d+)\.(\d+)")


def _rows(page: str) -> list[list[str]]:
    lines = (PAPERS / page).read_text(encoding="utf-8").splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]


def _missing(row: list[str]) -> list[str]:
    """Return the modelled or measured figures of a row that are not in the results of its figure, rounded."""
    number = int(row[0].split(":")[0])
    source = f"observation {OBSERVATIONS[number]}" if number in OBSERVATIONS else f"figure {number}"
    here = [value[0] for name, value in measured().items() if name.startswith(f"{source}:")]
    models = [claim["model"] for claim in CLAIMS if claim["source"] == source]
    found = []
    for clause in row[2].split(";"):
        known = {"modelled": models, "measured": here}.get(_kind(clause), [])
        text = re.sub(r"\d+\.\d+ GHz|instead of \d+\.\d+", "", clause)
        found += [m[0] for m in FIGURE.finditer(text) if not any(_rounds(value, m) for value in known)]
    return found


def _kind(clause: str) -> str:
    kinds = [kind for kind in ("modelled", "measured") if re.search(rf"\b{kind}\b", clause)]
    return kinds[0] if kinds else ""


def _rounds(value: float, match: re.Match[str]) -> bool:
    return abs(value - float(match[0])) <= 0.51 * 10 ** -len(match[2])


@pytest.mark.parametrize(
    "row", [r for r in _rows("dialga.md") if FIGURE.search(r[2])], ids=lambda row: row[0]
)
def test_figures_are_those_of_the_results(row: list[str]) -> None:
    assert _missing(row) == []


def test_another_figure_is_noticed() -> None:
    row = next(r for r in _rows("dialga.md") if r[0].startswith("14: decoding"))
    assert _missing([*row[:2], row[2].replace("1.26", "1.36"), row[3]]) == ["1.36"]
    row = next(r for r in _rows("dialga.md") if r[0] == "10: k = 32")
    assert _missing([*row[:2], row[2].replace("1.96", "1.79"), row[3]]) == ["1.79"]


#: Page -> the numbers of the paper's figures, and the names of its tables.
NUMBERED = {
    "dialga.md": (range(1, 20), ()),
    "inec.md": (range(1, 15), ("table I",)),
    "gfni.md": (range(1, 3), ()),
}


def _absent(rows: list[list[str]], page: str) -> list[str]:
    """Return the figures and tables that begin no row of the page."""
    figures, tables = NUMBERED[page]
    first = [re.sub(r"^figures? ", "", row[0]) for row in rows]
    spans = [re.match(r"(\d+)(?: (?:to|and) (\d+))?\b", text) for text in first]
    seen = {n for span in spans if span for n in range(int(span[1]), int(span[2] or span[1]) + 1)}
    named = [table for table in tables if not any(text.startswith(table) for text in first)]
    return [str(n) for n in figures if n not in seen] + named


@pytest.mark.parametrize("page", NUMBERED)
def test_every_figure_and_table_has_a_row(page: str) -> None:
    rows = _rows(page)
    assert _absent(rows, page) == []
    last = str(max(NUMBERED[page][0]))
    left = [row for row in rows if not re.match(rf"(figures? )?{last}\b", row[0])]
    assert _absent(left, page) == [last]


@pytest.mark.parametrize("page", sorted(path.name for path in PAPERS.glob("*.md")))
def test_every_row_has_a_figure_and_a_verdict(page: str) -> None:
    """The columns of each row: the paper's figure, ours, and a verdict."""
    for row in _rows(page):
        assert len(row) >= 4 and row[0] and row[-1] not in ("", "-"), row


@pytest.mark.parametrize("page", sorted(path.name for path in PAPERS.glob("*.md")))
def test_no_row_is_unfinished(page: str) -> None:
    rows = _rows(page)
    assert len(rows) > 4
    assert not [row for row in rows if re.search(r"\b(open|missing|yet)\b", row[-1])]
    verdict = re.compile(r"(same|better|worse)\b|not obtainable( here)?: .|verdict$|-+:?$")
    assert not [row for row in rows if not verdict.match(row[-1])]
