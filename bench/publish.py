"""Publication of a run: a page for each CPU in bench/results/performance, and the generated part of
bench/results/performance.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from bench import curves, index
from bench.build import RESULTS
from bench.index import INDEX, PAGES
from bench.machine import describe
from bench.paper import listings
from bench.results import Result
from bench.table import HEADINGS, TITLES, groups, name, place, row, summary
from gfsmith.emit.files import replacing


def _ahead(results: Sequence[Result]) -> Iterator[str]:
    yield "## Cells in which a peer is ahead\n"
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


def page(results: Sequence[Result], cpu: str, isa: str) -> str:
    """Return the page of a CPU, whose best set is `isa`."""
    return "\n".join(
        [
            f"# Measured on {cpu}\n",
            f"[{INDEX}](../{INDEX}) explains the columns and lists the other CPUs.\n",
            f"Machine: {describe()}. Set: {isa}. {summary(results)}\n",
            curves.links(cpu),
            *_ahead(results),
            *_tables(results),
        ]
    )


def _write(path: Path, text: str) -> None:
    with replacing(path) as stage:
        stage.write_text(text, encoding="utf-8")


def publish(results: Sequence[Result], cpu: str, isa: str, top: Path = RESULTS) -> None:
    """Write the page of this CPU with its pictures, and the list of all pages. Raises ValueError if the
    results lack a row of the pictures; then nothing is written."""
    text = page(results, cpu, isa)
    folder = top / PAGES
    files = {folder / f"{cpu}.md": text, **{folder / n: d for n, d in curves.draw(text, cpu).items()}}
    for file, content in files.items():
        _write(file, content)
    index.update(top)
