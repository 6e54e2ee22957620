"""python -m bench: measure gfsmith against its peers and write bench/out/."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path

from rich.console import Console

from bench import cells as plan
from bench import losses, paper
from bench.build import HERE, LIBRARY, PEERS, VERSIONS, BuildError, Built, build
from bench.options import OneLineParser, start
from bench.page import write_page
from bench.plots import write_plots
from bench.publish import publish
from bench.results import report, result
from bench.run import RunError, Setting, run
from bench.table import show
from gfsmith.cli.console import progress
from gfsmith.kernel.microarch import UnknownMicroarchitecture, host, host_features

OUT = HERE / "out"
LEAST_POOL = 2048
WIDTH = 150  #: of tables that do not go to a terminal


def _pool(text: str) -> int:
    value = int(text) if text.isdigit() else 0
    if value < LEAST_POOL:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of MiB of at least {LEAST_POOL}")
    return value


def _stagger(text: str) -> int:
    if not text.isdigit() or int(text) % 64 or int(text) > 1 << 20:
        raise argparse.ArgumentTypeError(f"{text!r} is not a multiple of 64 up to 1048576")
    return int(text)


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = OneLineParser(prog="bench", description="Measure gfsmith against its peers.")
    parser.add_argument("--quick", action="store_true", help="under a minute; only peers that are built")
    parser.add_argument("--only", metavar="GLOB", help="cells whose id matches, such as 'table/lch*'")
    parser.add_argument("--list", action="store_true", help="print the ids of the cells and stop")
    parser.add_argument("--pages", choices=("huge", "small"), default="huge", help="default: huge")
    parser.add_argument("--stagger", type=_stagger, default=128, help="bytes between shards (128)")
    parser.add_argument("--pool", type=_pool, default=LEAST_POOL, help="MiB of memory (2048)")
    parser.add_argument("--library", type=Path, default=LIBRARY, help="a libgfsmith.a to measure")
    parser.add_argument(
        "--publish", action="store_true", help="write this CPU's page of bench/results/performance"
    )
    parser.add_argument("--out", type=Path, default=OUT, help="where results go (bench/out)")
    return parser.parse_args(arguments)


def _say(what: str) -> None:
    print(f"bench: {what}", file=sys.stderr, flush=True)


def _chosen(options: argparse.Namespace) -> list[plan.Cell]:
    cells = plan.quick() if options.quick else plan.full()
    repeated = losses.cells() if options.only is not None or options.list else []
    wanted = [*plan.on_host([*cells, *repeated], plan.host_set(host_features())), *paper.cells()]
    return [cell for cell in wanted if options.only is None or fnmatch(cell.id, options.only)]


def _measurable(chosen: Sequence[plan.Cell], built: Built) -> Sequence[plan.Cell]:
    """Return the cells whose own contender was built, and name the others."""
    for name, reason in built.missing.items():
        lost = [cell.id for cell in chosen if cell.own.startswith(f"{name}:")]
        if lost:
            _say(f"without {', '.join(lost)}: {reason}")
        chosen = [cell for cell in chosen if cell.id not in lost]
    return chosen


def _bench(options: argparse.Namespace, chosen: Sequence[plan.Cell]) -> None:
    cpu = host().name if options.publish else ""
    setting = Setting(options.pool, options.stagger, options.pages)
    effort = plan.QUICK if options.quick else plan.FULL
    optional = frozenset(PEERS) - {"isal"} if options.quick else frozenset()
    built = build(options.library, optional, _say)
    chosen = _measurable(chosen, built)
    with progress("cells measured", len(chosen) * effort.passes) as advance:
        measured = run(chosen, built, setting, effort, lambda samples: advance(1))
        results = [result(samples) for samples in measured]
    options.out.mkdir(parents=True, exist_ok=True)
    content = report(results, built, setting, VERSIONS)
    (options.out / "report.json").write_text(json.dumps(content, indent=1) + "\n")
    pictures = write_plots(results, options.out)
    write_page(results, content, pictures, options.out)
    if options.publish:
        publish(results, cpu, plan.host_set(host_features()))
    console = Console()
    show(results, built.missing, console if console.is_terminal else Console(width=WIDTH))


def main(arguments: Sequence[str] | None = None) -> int:
    options = _arguments(arguments)
    chosen = _chosen(options)
    if not chosen:
        print(f"bench: no cell matches {options.only!r} (see --list)", file=sys.stderr)
        return 2
    if options.list:
        print("\n".join(cell.id for cell in chosen))
        return 0
    try:
        _bench(options, chosen)
    except (BuildError, RunError, UnknownMicroarchitecture) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("bench: interrupted", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    start(main)
