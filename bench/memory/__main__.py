"""python -m bench.memory: the model of memory that is not here, into bench/memory/results.json, pictures
and a page."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, NoReturn

from bench.build import BuildError
from bench.kept import PageError
from bench.memory import page, pictures
from bench.memory.forecast import Forecast, cells, forecast
from bench.memory.machine import HERE, MachineError
from bench.memory.orders import quiet
from bench.memory.reproduce import PARTS, curves
from bench.memory.systems import Setting
from gfsmith import parallel
from gfsmith.console import progress
from gfsmith.files import replacing

RESULTS = HERE / "results.json"


class OneLineParser(argparse.ArgumentParser):
    """Bad arguments: one line on stderr, exit status 2."""

    def error(self, message: str) -> NoReturn:
        print(f"bench.memory: {message} (see --help)", file=sys.stderr)
        raise SystemExit(2)


def _jobs(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of processes")
    return int(text)


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = OneLineParser(prog="bench.memory", description="A model of memory that is not here.")
    parser.add_argument(
        "--draw", action="store_true", help="pictures and page from the results that are there"
    )
    parser.add_argument("--jobs", type=_jobs, default=os.cpu_count() or 1, help="processes (default: all)")
    return parser.parse_args(words)


def _record(found: Forecast) -> dict[str, Any]:
    return {**asdict(found), "best": found.best}


def _forecasts(todo: Sequence[Setting], jobs: int) -> list[dict[str, Any]]:
    """Heaviest cells first, so that no process is left with one at the end."""
    found: dict[int, Forecast] = {}
    heavy = sorted(range(len(todo)), key=lambda n: -todo[n].k * todo[n].length * todo[n].threads)
    with progress("cells", len(todo)) as advance:

        def done(number: int, result: Forecast) -> None:
            found[heavy[number]] = result
            advance(1)

        parallel.run(forecast, [todo[n] for n in heavy], jobs, done)
    return [_record(found[n]) for n in range(len(todo))]


def results(jobs: int) -> dict[str, Any]:
    """All that the page shows; the same on every machine."""
    return {
        "claims": [claim.record() for part in PARTS for claim in part()],
        "curves": curves(),
        "orders": [asdict(order) for order in quiet()],
        "forecasts": _forecasts(cells(), jobs),
    }


def main(words: Sequence[str] | None = None) -> int:
    arguments = _arguments(words)
    try:
        if not arguments.draw:
            text = json.dumps(results(arguments.jobs), indent=1) + "\n"
            with replacing(RESULTS) as stage:
                stage.write_text(text, encoding="utf-8")
        found = json.loads(RESULTS.read_text(encoding="utf-8"))
        for name, drawn in pictures.pictures(found).items():
            with replacing(pictures.FOLDER / name) as stage:
                stage.write_text(drawn, encoding="utf-8")
        page.write(found)
    except (BuildError, MachineError, PageError, OSError, ValueError) as error:
        print(f"bench.memory: {error}", file=sys.stderr)
        return 1
    missed = sum(not claim["agrees"] for claim in found["claims"])
    print(
        f"bench.memory: {len(found['claims'])} claims of the paper, {missed} not reproduced; docs/memory.md"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
