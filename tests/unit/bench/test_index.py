"""The table that compares published figures with the required speeds."""

from __future__ import annotations

import json
from pathlib import Path

from bench import index
from bench.build import RESULTS
from bench.table import HEADINGS, TITLES


def _page(**groups: list[tuple[str, str, float, float]]) -> str:
    """Return a page with rows of code, place, ratio and touch ratio."""
    lines = ["# Measured on here\n", "Machine: a machine, 2 processors\n"]
    for group, rows in groups.items():
        lines += [f"## {TITLES[group]}\n", f"| {' | '.join(HEADINGS)} |", "|---" * len(HEADINGS) + "|"]
        for code, place, ratio, ceiling in rows:
            fields = (
                code,
                place,
                "9.0",
                "5.0",
                "isal:x",
                f"{ratio:.2f}x",
                "1..2",
                "",
                f"{ceiling:.2f}x",
                "8.0",
                "7.0",
            )
            lines.append(f"| {' | '.join(fields)} |")
        lines.append("| 5+5 lch | DRAM 4 KiB | - | - | no data |  |  |  |  |  |  |\n")
    return "\n".join(lines)


def _targets(top: Path, page: str, *shares: tuple[str, str, int, float]) -> dict[str, str]:
    for folder in (index.PAGES, index.LIMITS):
        (top / folder).mkdir()
    (top / index.PAGES / "here.md").write_text(page)
    cells = [
        {
            "code": code,
            "where": f"{regime} {length}",
            "regime": regime,
            "length": length,
            "share": {"median": share},
        }
        for code, regime, length, share in shares
    ]
    if cells:
        (top / index.LIMITS / "here.json").write_text(json.dumps({"cells": cells}))
    rows = [line.strip("| ").split(" | ") for line in index.targets(top).splitlines()[2:]]
    return {what: found for what, _, found in rows}


def test_ratios_are_counted_once_and_the_least_is_named(tmp_path: Path) -> None:
    shared = ("10+4 cauchy", "in cache 4 KiB", 1.6, 1.5)
    page = _page(
        table=[shared, ("48+4 lch", "in cache 4 KiB", 1.4, 2.5), ("8+8 lch", "DRAM 1 KiB", 3.0, 2.0)],
        isa=[
            ("10+4 cauchy avx2", "in cache 4 KiB", 2.1, 1.5),
            ("10+4 cauchy avx512", "in cache 4 KiB", 1.9, 1.5),
        ],
        k=[shared],
        batch=[("10+4 cauchy", "DRAM 1 KiB", 2.6, 2.0), ("10+4 cauchy", "in cache 64 B", 0.9, 2.0)],
    )
    found = _targets(tmp_path, page)
    assert found["median over the fastest peer, first table"] == "1.60; of the touch loop 2.00"
    assert found["every cell of codec calls"] == "6 of 7; least 0.90 (10+4 cauchy, in cache 64 B, batch call)"
    assert found["four parities, 4 KiB in cache"] == "1 of 2; least 1.40 (48+4 lch, in cache 4 KiB)"
    assert (
        found["batch calls, 1 KiB from memory"] == "1 of 1; least 2.60 (10+4 cauchy, DRAM 1 KiB, batch call)"
    )
    assert found["AVX2 without GFNI"] == "1 of 1; least 2.10 (10+4 cauchy avx2, in cache 4 KiB)"
    assert found["`lch` with 55 to 128 parities"] == index.NONE
    assert found["share of the searched limit, in cache"] == index.NONE


def test_shares_are_compared_with_the_requirement_of_their_length(tmp_path: Path) -> None:
    shares = (("a", "resident", 4096, 0.9), ("b", "dram", 1024, 0.92), ("c", "dram", 65536, 0.94))
    found = _targets(tmp_path, _page(table=[]), *shares)
    assert found["share of the searched limit, in cache"] == "1 of 1; least 0.90 (a, resident 4096)"
    assert found["share of the searched limit, from memory"] == "1 of 2; least 0.92 (b, dram 1024)"


def test_the_recorded_table_is_that_of_the_recorded_pages() -> None:
    text = (RESULTS / index.INDEX).read_text(encoding="utf-8")
    assert index.targets(RESULTS) in text and index.listed(RESULTS / index.PAGES) in text
