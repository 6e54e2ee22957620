"""The results as one HTML page next to the pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from bench.build import ROOT
from bench.paper import listings
from bench.results import Result
from bench.table import HEADINGS, TITLES, groups, row

_VERDICT = {True: "met", False: "below", None: ""}


def write_page(
    results: Sequence[Result],
    report: Mapping[str, object],
    pictures: Sequence[tuple[str, str]],
    out: Path,
) -> None:
    loader = FileSystemLoader(ROOT / "templates")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    tables = [
        (TITLES[group], [(row(result), _VERDICT[result.meets_floor]) for result in members])
        for group, members in groups(results).items()
    ]
    page = environment.get_template("bench_page.html.j2").render(
        tables=tables, headings=HEADINGS, listings=list(listings(results)), pictures=pictures, **report
    )
    (out / "index.html").write_text(page + "\n")
