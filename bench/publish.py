"""Put the results of a full run into docs/performance.md, between its two marks."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.build import HERE, ROOT
from bench.machine import describe
from bench.paper import listings
from bench.results import Result
from bench.table import HEADINGS, TITLES, groups, name, place, row, summary

PAGE = ROOT / "docs" / "performance.md"
PICTURES = HERE / "pictures"
BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"


def _pictures(pictures: Sequence[tuple[str, str]], out: Path) -> Iterator[str]:
    """Copies beside the sources: bench/out is not kept in the repository."""
    PICTURES.mkdir(exist_ok=True)
    for file, title in pictures:
        shutil.copyfile(out / file, PICTURES / file)
        yield f"![{title}](../bench/pictures/{file})\n"


def _ahead(results: Sequence[Result]) -> Iterator[str]:
    yield "## Where a peer is ahead\n"
    # Groups share some cells: one line for each.
    unlike = {(name(r), place(r), r.cell.isa, r.cell.threads): r for r in reversed(results)}
    behind = [result for result in reversed(unlike.values()) if result.peer_ahead]
    if not behind:
        yield "Nowhere in the cells measured.\n"
        return
    yield "| code | where | threads | peer | ratio |\n|---|---|---:|---|---:|"
    for result in behind:
        assert result.ratio is not None
        fields = [name(result), place(result), str(result.cell.threads), str(result.peer)]
        yield f"| {' | '.join(fields)} | {result.ratio.median:.2f}x |"
    yield ""


def _tables(results: Sequence[Result]) -> Iterator[str]:
    for group, members in groups(results).items():
        yield f"## {TITLES[group]}\n"
        yield f"| {' | '.join(HEADINGS)} |"
        yield "|" + "|".join("---" if n in (0, 1, 4) else "---:" for n in range(len(HEADINGS))) + "|"
        yield from (f"| {' | '.join(row(result))} |" for result in members)
        yield ""
    for listing in listings(results):
        yield f"## {listing.title}\n"
        yield f"| {' | '.join(listing.headings)} |"
        yield "|---|" + "---:|" * (len(listing.headings) - 1)
        yield from (f"| {' | '.join(fields)} |" for fields in listing.rows)
        yield f"\n{listing.notes}\n"


def publish(results: Sequence[Result], pictures: Sequence[tuple[str, str]], out: Path) -> None:
    """Replace what stands between the marks of docs/performance.md."""
    before, rest = PAGE.read_text().split(BEGIN)
    after = rest.split(END)[1]
    head = f"Machine: {describe()}. {summary(results)}\n"
    body = "\n".join([head, *_pictures(pictures, out), *_ahead(results), *_tables(results)])
    PAGE.write_text(f"{before}{BEGIN}\n{body}{END}{after}")
