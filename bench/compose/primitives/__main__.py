"""python -m bench.compose.primitives: measure single primitives into bench/results/primitives.json."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from bench.build import BUILD, RESULTS
from bench.compose.build import build
from bench.compose.fleet import Fleet
from bench.compose.primitives import counts
from bench.compose.primitives.figures import FIGURES, Effort, Figure, figure_json, measure
from bench.compose.primitives.page import PAGE, publish
from bench.compose.ycsb import client, programs
from bench.options import OneLineParser, start
from bench.result_store import Store, status
from gfsmith.cli.console import progress

FILE = RESULTS / "primitives.json"
TABLES = ("counts", "figures")
PROVIDER = "tcp"
_DEFAULT = Effort()


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = OneLineParser(prog="bench.compose.primitives", description="Measure single primitives.")
    numbers = [figure.number for figure in FIGURES]
    parser.add_argument(
        "--figures", type=int, nargs="*", choices=numbers, default=numbers, help="of the paper (all)"
    )
    for name, words in (
        ("rounds", "of both contenders"),
        ("records", "stored before the rounds"),
        ("clients", "threads of YCSB, with a connection each; the paper has 144 for its figure 14"),
        ("seconds", "of a contender in a round"),
    ):
        default = getattr(_DEFAULT, name)
        parser.add_argument(f"--{name}", type=int, default=default, help=f"{words} ({default})")
    parser.add_argument("--fresh", action="store_true", help="measure again the figures that have results")
    parser.add_argument("--out", type=Path, default=FILE, help=f"default: {FILE.name}")
    parser.add_argument(
        "--publish", action="store_true", help=f"fill {PAGE.name} from the results; no measuring"
    )
    options = parser.parse_args(arguments)
    for name in ("rounds", "records", "clients", "seconds"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} {getattr(options, name)}; allowed: 1 or more")
    return options


def _count(store: Store, driver: Path) -> None:
    """Count all cells again: that takes seconds."""
    with Fleet(driver, max(cell.ranks for cell in counts.CELLS), PROVIDER) as fleet:
        for cell in counts.CELLS:
            store.put("counts", cell.id, counts.count(fleet, cell))


def _measure(options: argparse.Namespace) -> None:
    effort = Effort(options.rounds, options.records, options.clients, options.seconds)
    built = build()
    method = {"provider": PROVIDER, "figures": asdict(effort)}
    store = Store(options.out, built.digest, method, TABLES, options.fresh)
    _count(store, built.driver)
    figures: list[Figure] = [one for one in FIGURES if one.number in options.figures]
    figures = [one for one in figures if str(one.number) not in store.content["figures"]]
    if figures:
        client.build()
        programs.build()
    with progress("measuring", len(figures)) as step:
        for one in figures:
            store.put("figures", str(one.number), figure_json(one, measure(one, effort)))
            step(1)
    content, name = store.content, options.out.name
    print(f"{len(content['counts'])} graphs and {len(content['figures'])} figures in {name}")


def main(arguments: Sequence[str] | None = None) -> int:
    options = _arguments(arguments)
    BUILD.mkdir(parents=True, exist_ok=True)
    run = publish if options.publish else None
    return status("bench.compose.primitives", lambda: run(options.out) if run else _measure(options))


if __name__ == "__main__":
    start(main)
