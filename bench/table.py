"""The results as tables on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

from bench.paper import listings
from bench.results import Result
from gfsmith.explore.stats import Estimate

TITLES = {
    "table": "Against the fastest peer",
    "isa": "Other instruction sets, against the same set of ISA-L",
    "small": "Small calls",
    "length": "By block length, 10+4",
    "k": "By number of sources, 4 outputs, 4 KiB in cache",
    "threads": "Two threads",
    "batch": "Batch calls, against a call of a peer for each stripe",
    "wide": "Many parities",
    "packets": "Packet layout, against Jerasure's schedules",
}
HEADINGS = (
    *("code", "where", "gfsmith", "fastest peer", "", "ratio", "interval", "floor", "touch ratio"),
    *("touch loop", "port bound"),
)
NOTES = (
    "GB/s of source data. touch loop: a loop in C that reads and writes the same bytes without computation;",
    "kernels may be faster. touch ratio: the fastest peer's time over the time of that",
    "loop. port bound: a dense product that only multiplies; a factored kernel multiplies less and may",
    "pass it.",
)


def place(result: Result) -> str:
    cell = result.cell
    size = f"{cell.length // 1024} KiB" if cell.length % 1024 == 0 else f"{cell.length} B"
    where = "in cache" if cell.regime == "resident" else "DRAM"
    return f"{where} {size}"


def name(result: Result) -> str:
    cell = result.cell
    isa = f" {cell.isa}" if cell.group in ("isa", "packets") else ""
    return f"{cell.k}+{cell.m} {cell.code}{isa}"


def figure(value: Estimate | float | None) -> str:
    if value is None:
        return "-"
    number = value.median if isinstance(value, Estimate) else value
    return f"{number:.1f}"


def interval(value: Estimate | None) -> str:
    return f"{value.low:.2f}..{value.high:.2f}" if value else "-"


def row(result: Result) -> list[str]:
    """Return the cells of a line under HEADINGS."""
    if result.own is None:
        why = next((why for who, why in result.unavailable.items() if who.startswith("gfsmith")), "no data")
        return [name(result), place(result), "-", "-", why, *[""] * (len(HEADINGS) - 5)]
    floor = result.cell.floor
    return [
        name(result),
        place(result),
        figure(result.gbps[result.own]),
        figure(result.gbps[result.peer]) if result.peer else "-",
        result.peer or "none",
        f"{result.ratio.median:.2f}x" if result.ratio else "-",
        interval(result.ratio),
        f"{floor}x" if floor else "",
        f"{result.ceiling.median:.2f}x" if result.ceiling else "-",
        figure(result.gbps[result.limit]) if result.limit else "-",
        figure(result.port_bound),
    ]


def colour(result: Result) -> str:
    if result.meets_floor is None:
        return "dim" if result.own is None else ""
    return "green" if result.meets_floor else "yellow"


def groups(results: Iterable[Result]) -> dict[str, list[Result]]:
    """Return the results by group, in the order of TITLES."""
    listed = list(results)
    found = {group: [r for r in listed if r.cell.group == group] for group in TITLES}
    return {group: members for group, members in found.items() if members}


def summary(results: Sequence[Result]) -> str:
    """Return how many floors are met, and in how many cells a peer is ahead."""
    floors = [result.meets_floor for result in results if result.meets_floor is not None]
    unreachable = sum(
        r.ceiling is not None and r.cell.floor is not None and r.ceiling.high < r.cell.floor for r in results
    )
    return (
        f"{sum(floors)} of {len(floors)} floors met; {unreachable} are above the touch ratio; "
        f"a peer is ahead in {sum(r.peer_ahead for r in results)} of {len(results)} cells of codec calls."
    )


def show(results: Sequence[Result], missing: dict[str, str], console: Console) -> None:
    for group, members in groups(results).items():
        table = Table(title=TITLES[group], title_justify="left", header_style="bold")
        for number, heading in enumerate(HEADINGS):
            text = number in (0, 1, 4)
            table.add_column(heading, justify="left" if text else "right")
        for result in members:
            table.add_row(*row(result), style=colour(result))
        console.print(table)
    for listing in listings(results):
        table = Table(title=listing.title, title_justify="left", header_style="bold", caption=listing.notes)
        for number, heading in enumerate(listing.headings):
            table.add_column(heading, justify="right" if number else "left")
        for fields in listing.rows:
            table.add_row(*fields)
        console.print(table)
    console.print("\n".join(NOTES))
    console.print(summary(results), highlight=False)
    for peer, why in missing.items():
        console.print(f"missing peer: {peer}: {why}", markup=False)
