"""research/papers/dialga.md: every modelled figure is in the results, and no row is unfinished."""

from __future__ import annotations

import json
import re

import pytest

from bench.build import ROOT
from research.memory.__main__ import RESULTS

PAPERS = ROOT / "research" / "papers"
CLAIMS = json.loads(RESULTS.read_text(encoding="utf-8"))["claims"]
#: Figures whose claims have the name of an observation.
OBSERVATIONS = {3: 1, 5: 3, 6: 4, 7: 5}
FIGURE = re.compile(r"(\d+)\.(\d+)")


def _rows(page: str) -> list[list[str]]:
    lines = (PAPERS / page).read_text(encoding="utf-8").splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]


def _missing(row: list[str]) -> list[str]:
    """Return the modelled figures of a row that are not in the results of its figure, rounded."""
    number = int(row[0].split(":")[0])
    source = f"observation {OBSERVATIONS[number]}" if number in OBSERVATIONS else f"figure {number}"
    models = [claim["model"] for claim in CLAIMS if claim["source"] == source]
    modelled = row[2][: row[2].rindex("modelled")]
    measured = re.sub(r"[^;]*\bmeasured\b[^;]*|\d+\.\d+ GHz|instead of .*", "", modelled)
    return [
        match[0]
        for match in FIGURE.finditer(measured)
        if not any(abs(model - float(match[0])) <= 0.51 * 10 ** -len(match[2]) for model in models)
    ]


@pytest.mark.parametrize("row", [r for r in _rows("dialga.md") if "modelled" in r[2]], ids=lambda row: row[0])
def test_modelled_figures_are_those_of_the_results(row: list[str]) -> None:
    assert _missing(row) == []


def test_another_figure_is_noticed() -> None:
    row = next(r for r in _rows("dialga.md") if r[0].startswith("14: decoding"))
    assert _missing([*row[:2], row[2].replace("1.26", "1.36"), row[3]]) == ["1.36"]
    assert FIGURE.search(row[2])


@pytest.mark.parametrize("page", ["dialga.md", "isal.md"])
def test_no_row_is_unfinished(page: str) -> None:
    rows = _rows(page)
    assert len(rows) > 4
    assert not [row for row in rows if re.search(r"\b(open|missing)\b", row[-1])]
