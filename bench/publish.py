"""Publication of a full run's results in bench/results/performance.md, between its two marks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bench import curves
from bench.build import RESULTS
from bench.machine import describe
from bench.paper import listings
from bench.results import Result
from bench.table import HEADINGS, TITLES, groups, name, place, row, summary

PAGE = RESULTS / "performance.md"
BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"


def _ahead(results: Sequence[Result]) -> Iterator[str]:
    yield "## Where a peer is ahead\n"
    yield (
        "This section counts codec calls. Table I below, and docs/isal.md, compare single functions with\n"
        "ISA-L: in their columns that compare with ISA-L, a figure below 1 means that ISA-L is ahead.\n"
    )
    # Groups share some cells: print each once.
    unlike = {(name(r), place(r), r.cell.isa, r.cell.threads): r for r in reversed(results)}
    behind = [result for result in reversed(unlike.values()) if result.peer_ahead]
    if not behind:
        yield "A peer is ahead in none of the measured codec calls.\n"
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


def publish(results: Sequence[Result]) -> None:
    """Replace the text between the marks of bench/results/performance.md, and draw its pictures."""
    before, rest = PAGE.read_text().split(BEGIN)
    after = rest.split(END)[1]
    head = f"Machine: {describe()}. {summary(results)}\n"
    body = "\n".join([head, curves.links(), *_ahead(results), *_tables(results)])
    text = f"{before}{BEGIN}\n{body}{END}{after}"
    for file, drawn in curves.draw(text).items():
        (RESULTS / file).write_text(drawn, encoding="utf-8")
    PAGE.write_text(text)
