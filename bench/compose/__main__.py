"""python -m bench.compose: measure composed primitives and the store into bench/results/compose.json."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from fnmatch import fnmatch
from itertools import groupby
from pathlib import Path

from bench.build import BUILD
from bench.compose import choices, plan
from bench.compose.build import HERE, Built, build
from bench.compose.fleet import Fleet
from bench.compose.measure import measure
from bench.compose.page import PAGE, publish
from bench.compose.results import TABLES, cell_json, graph_json
from bench.compose.ycsb import client, programs, study
from bench.compose.ycsb.results import study_json
from bench.options import OneLineParser, start
from bench.result_store import Json, Store, status
from gfsmith.cli.console import progress

RESULTS = HERE.parent / "results" / "compose.json"
QUICK = BUILD / "compose-quick.json"

#: Encodings in one process, for the projection: inputs, outputs, bytes, calls.
CALC = ((6, 1, 64 * plan.KIB, 200), (6, 3, 64 * plan.KIB, 200))


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = OneLineParser(prog="bench.compose", description="Measure composed primitives and the store.")
    parser.add_argument("--quick", action="store_true", help="fewer shapes and sizes, shorter: some minutes")
    parser.add_argument("--cells", metavar="GLOBS", default="*", help="by id, such as 'latency/ppr/*'")
    parser.add_argument(
        "--ycsb", metavar="GLOBS", default="*", help="studies by id, such as 'rs*'; '' for none"
    )
    clients = study.Effort().threads
    parser.add_argument(
        "--clients", type=int, default=clients, help=f"of YCSB for each memory stripe ({clients})"
    )
    parser.add_argument("--list", action="store_true", help="print the ids of cells and studies, and stop")
    parser.add_argument("--fresh", action="store_true", help="measure again the cells that have results")
    parser.add_argument("--provider", default="tcp", help="libfabric's (tcp)")
    parser.add_argument("--out", type=Path, help="default: results.json, with --quick one below build/")
    parser.add_argument(
        "--publish", action="store_true", help=f"fill {PAGE.name} from the results; no measuring"
    )
    parser.add_argument(
        "--choices", type=Path, metavar="FILE", help="write gfsmith_choices_read's file from the results"
    )
    options = parser.parse_args(arguments)
    if options.clients < 1:
        parser.error(f"--clients {options.clients}; allowed: 1 or more")
    return options


def _load(options: argparse.Namespace) -> study.Effort:
    """Return the effort of YCSB's studies."""
    return replace(study.QUICK if options.quick else study.Effort(), threads=options.clients)


def _wanted(name: str, globs: str) -> bool:
    return any(fnmatch(name, glob) for glob in globs.split(","))


def method(options: argparse.Namespace) -> Json:
    """Return the settings of the measurement that a result depends on."""
    cells = plan.QUICK if options.quick else plan.FULL
    return {
        "provider": options.provider,
        "window": plan.WINDOW,
        "slices": plan.SLICES,
        "effort": asdict(cells),
        "ycsb": asdict(_load(options)),
    }


def _fleets(cells: Sequence[plan.Cell]) -> Iterator[tuple[int, list[plan.Cell]]]:
    """Yield groups of cells with the same number of ranks, which share one fleet."""
    for ranks, group in groupby(cells, key=lambda cell: cell.ranks):
        yield ranks, list(group)


def _cells(
    options: argparse.Namespace,
    built: Built,
    store: Store,
    cells: Sequence[plan.Cell],
    step: Callable[[int], None],
) -> None:
    effort = plan.QUICK if options.quick else plan.FULL
    for ranks, group in _fleets(cells):
        with Fleet(built.driver, ranks, options.provider) as fleet:
            for inputs, outputs, length, count in CALC:
                kept = store.content["calc"]
                key = f"{inputs},{outputs},{length}"
                kept.setdefault(key, round(fleet.calc(inputs, outputs, length, count), 1))
            for cell in group:
                one = measure(fleet, cell, effort)
                store.content["graphs"].setdefault(cell.graph, graph_json(one))
                store.put("cells", cell.id, cell_json(one))
                step(1)


def _ycsb(
    options: argparse.Namespace, store: Store, studies: Sequence[study.Study], step: Callable[[int], None]
) -> None:
    effort = _load(options)
    if studies:
        client.build()
        programs.build()
    for one in studies:
        store.put("ycsb", one.id, study_json(one, study.measure(one, effort)))
        step(1)


def _measure(options: argparse.Namespace, out: Path) -> None:
    built = build()
    store = Store(out, built.digest, method(options), TABLES, options.fresh)
    cells = [c for c in plan.cells(options.quick) if _wanted(c.id, options.cells)]
    cells = [c for c in cells if c.id not in store.content["cells"]]
    studies = [s for s in study.STUDIES if options.ycsb and _wanted(s.id, options.ycsb)]
    studies = [s for s in studies if s.id not in store.content["ycsb"]]
    with progress("measuring", len(cells) + len(studies)) as step:
        _cells(options, built, store, cells, step)
        _ycsb(options, store, studies, step)
    print(f"{len(store.content['cells'])} cells and {len(store.content['ycsb'])} studies in {out.name}")


def _choose(results: Path, out: Path) -> None:
    mixed = choices.write(json.loads(results.read_text()), out)
    print(f"{out.name}: {mixed} graphs are incoherent at some lengths")


def main(arguments: Sequence[str] | None = None) -> int:
    options = _arguments(arguments)
    out: Path = options.out or (QUICK if options.quick else RESULTS)
    if options.list:
        cells = [cell.id for cell in plan.cells(options.quick) if _wanted(cell.id, options.cells)]
        print("\n".join(cells + [one.id for one in study.STUDIES]))
        return 0
    if options.choices:
        return status("bench.compose", lambda: _choose(out, options.choices))
    if options.publish:
        return status("bench.compose", lambda: publish(out))
    return status("bench.compose", lambda: _measure(options, out))


if __name__ == "__main__":
    start(main)
