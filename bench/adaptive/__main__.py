"""python -m bench.adaptive: measure adaptive prefetching and write bench/results/adaptive.json."""

from __future__ import annotations

import argparse
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from itertools import groupby
from pathlib import Path

from bench.adaptive import plan
from bench.adaptive.build import HERE, LIBRARY, build
from bench.adaptive.driver import Driver
from bench.adaptive.judge import MARGIN
from bench.adaptive.measure import CellMeasurer
from bench.adaptive.page import PAGE, publish
from bench.adaptive.recovery import CHANGES, RecoveryMeasurer
from bench.adaptive.results import TABLES, cell_json, change_json, is_behind, method
from bench.build import BUILD
from bench.options import OneLineParser, start
from bench.result_store import Store, status
from gfsmith.cli.console import progress

RESULTS = HERE.parent / "results" / "adaptive.json"
QUICK = BUILD / "adaptive-quick.json"
PAPER = RESULTS.with_name("adaptive-paper.json")


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = OneLineParser(prog="bench.adaptive", description="Measure adaptive prefetching.")
    parser.add_argument(
        "--quick", action="store_true", help="24 cells and the changes, shorter: a minute or two"
    )
    parser.add_argument(
        "--paper", action="store_true", help=f"cells of the paper's figures 10 to 12 only, into {PAPER.name}"
    )
    parser.add_argument("--cells", metavar="GLOBS", default="*", help="by id, such as '28+4/*,*/1024/1'")
    parser.add_argument("--changes", metavar="GLOBS", default="*", help="by name, such as 'threads'")
    parser.add_argument("--list", action="store_true", help="print the ids of cells and changes, and stop")
    parser.add_argument(
        "--again", action="store_true", help="measure cells that were behind again, with a new coordinator"
    )
    parser.add_argument("--fresh", action="store_true", help="measure again the cells that have results")
    parser.add_argument("--pages", choices=("huge", "small"), default="huge", help="default: huge")
    parser.add_argument("--library", type=Path, default=LIBRARY, help="a libgfsmith.a with a coordinator")
    parser.add_argument("--trace", type=Path, help="a file for the coordinator's trace")
    parser.add_argument("--out", type=Path, help="default: results.json, with --quick one below build/")
    parser.add_argument(
        "--publish", action="store_true", help=f"fill {PAGE.name} from the results; no measuring"
    )
    return parser.parse_args(arguments)


def _wanted(name: str, globs: str) -> bool:
    return any(fnmatch(name, glob) for glob in globs.split(","))


def _groups(cells: Sequence[plan.Cell], done: Container[str]) -> Iterator[list[plan.Cell]]:
    """Yield the remaining cells. Cells that differ only in threads form a group."""
    left = [cell for cell in cells if cell.id not in done]
    for _, group in groupby(left, key=lambda cell: replace(cell, threads=0)):
        yield list(group)


def _measure(options: argparse.Namespace, cells: Sequence[plan.Cell], out: Path) -> Store:
    effort = plan.QUICK if options.quick else plan.FULL
    setting = plan.Setting(pages=options.pages)
    built = build(options.library, lambda what: None)
    store = Store(out, built.digest, method(setting, effort), TABLES, options.fresh)
    table, changes = "cells", [c for c in CHANGES if _wanted(c.what, options.changes)]
    if options.again:
        table, changes = "again", []
        first = store.content["cells"]
        cells = [cell for cell in cells if cell.id in first and is_behind(first[cell.id])]
    changes = [] if options.paper else [c for c in changes if c.what not in store.content["changes"]]
    groups = list(_groups(cells, store.content[table]))
    total = sum(map(len, groups)) + len(changes)
    with progress("measuring", total) as step, Driver(built, setting, options.trace) as driver:
        for group in groups:
            for one in CellMeasurer(driver, effort).measure(group):
                store.put(table, one.cell.id, cell_json(one))
                step(1)
        for change in changes:
            phases = RecoveryMeasurer(driver, effort, built.load).measure(change)
            store.put("changes", change.what, change_json(change, phases))
            step(1)
    return store


def _say(store: Store) -> None:
    cells = store.content["cells"].values()
    near = sum(cell["over_static_best"][0] <= 1 + MARGIN for cell in cells)
    ahead = sum(cell["gain_isal"][0] >= 1 for cell in cells if "gain_isal" in cell)
    print(f"{len(cells)} cells: within {MARGIN:.0%} of the static best in {near}, ahead of ISA-L in {ahead}")


def main(arguments: Sequence[str] | None = None) -> int:
    options = _arguments(arguments)
    out: Path = options.out or (PAPER if options.paper else QUICK if options.quick else RESULTS)
    every = plan.paper() if options.paper else plan.cells(options.quick)
    cells = [cell for cell in every if _wanted(cell.id, options.cells)]
    if options.list:
        print("\n".join([cell.id for cell in cells] + [change.what for change in CHANGES]))
        return 0
    if options.publish:
        return status("bench.adaptive", lambda: publish(out))
    return status("bench.adaptive", lambda: _say(_measure(options, cells, out)))


if __name__ == "__main__":
    start(main)
