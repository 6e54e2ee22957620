"""python -m bench.compose: measure composed primitives and the store into bench/results/compose.json."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from fnmatch import fnmatch
from itertools import groupby
from pathlib import Path

from bench.build import BUILD
from bench.compose import plan
from bench.compose.build import HERE, Built, build
from bench.compose.fleet import Fleet
from bench.compose.measure import measure
from bench.compose.page import PAGE, publish
from bench.compose.results import TABLES, cell_json, graph_json
from bench.compose.ycsb import client, programs, study
from bench.compose.ycsb.results import study_json
from bench.options import OneLineParser
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
    parser.add_argument("--list", action="store_true", help="print the ids of cells and studies, and stop")
    parser.add_argument("--fresh", action="store_true", help="measure again the cells that have results")
    parser.add_argument("--provider", default="tcp", help="libfabric's (tcp)")
    parser.add_argument("--out", type=Path, help="default: results.json, with --quick one below build/")
    parser.add_argument(
        "--publish", action="store_true", help=f"fill {PAGE.name} from the results; no measuring"
    )
    return parser.parse_args(arguments)


def _wanted(name: str, globs: str) -> bool:
    return any(fnmatch(name, glob) for glob in globs.split(","))


def method(options: argparse.Namespace) -> Json:
    """Return the settings of the measurement that a result depends on."""
    cells, load = (plan.QUICK, study.QUICK) if options.quick else (plan.FULL, study.Effort())
    return {
        "provider": options.provider,
        "window": plan.WINDOW,
        "slices": plan.SLICES,
        "effort": asdict(cells),
        "ycsb": asdict(load),
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
    effort = study.QUICK if options.quick else study.Effort()
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


def main(arguments: Sequence[str] | None = None) -> int:
    options = _arguments(arguments)
    out: Path = options.out or (QUICK if options.quick else RESULTS)
    if options.list:
        cells = [cell.id for cell in plan.cells(options.quick) if _wanted(cell.id, options.cells)]
        print("\n".join(cells + [one.id for one in study.STUDIES]))
        return 0
    if options.publish:
        return status("bench.compose", lambda: publish(out))
    return status("bench.compose", lambda: _measure(options, out))


if __name__ == "__main__":
    raise SystemExit(main())
