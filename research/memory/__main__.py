"""python -m research.memory: simulate memory that we could not measure, and write research/results."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from bench.build import BuildError
from bench.options import OneLineParser, start
from bench.result_store import PageError
from gfsmith.build import parallel
from gfsmith.cli.console import progress
from gfsmith.emit.files import replacing
from research.memory import page, pictures
from research.memory.distances import distances
from research.memory.forecast import Forecast, cells, forecast
from research.memory.machine import MachineError
from research.memory.orders import quiet
from research.memory.reproduce import PARTS, curves
from research.memory.systems import Setting
from research.memory.whole_pages import parts, settings

RESULTS = pictures.FOLDER / "memory.json"


def _jobs(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of processes")
    return int(text)


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = OneLineParser(prog="research.memory", description="Simulate memory that we could not measure.")
    parser.add_argument(
        "--draw", action="store_true", help="write pictures and page from the existing results"
    )
    parser.add_argument("--jobs", type=_jobs, default=os.cpu_count() or 1, help="processes (default: all)")
    return parser.parse_args(words)


def _record(found: Forecast) -> dict[str, Any]:
    return {**asdict(found), "best": found.best}


def _forecasts(todo: Sequence[Setting], jobs: int) -> list[dict[str, Any]]:
    """Run the heaviest cells first, so that no process is left with one at the end."""
    found: dict[int, Forecast] = {}
    heavy = sorted(range(len(todo)), key=lambda n: -todo[n].k * todo[n].length * todo[n].threads)
    with progress("cells", len(todo)) as advance:

        def done(number: int, result: Forecast) -> None:
            found[heavy[number]] = result
            advance(1)

        parallel.run(forecast, [todo[n] for n in heavy], jobs, done)
    return [_record(found[n]) for n in range(len(todo))]


def results(jobs: int) -> dict[str, Any]:
    """Return all data of the page; they are the same on every machine."""
    return {
        "claims": [claim.record() for part in PARTS for claim in part()],
        "curves": curves(),
        "distances": [{**asdict(found), "gain": round(found.gain, 3)} for found in distances()],
        "parts": [{**asdict(found), "gain": round(found.gain, 3)} for found in map(parts, settings())],
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
        print(f"research.memory: {error}", file=sys.stderr)
        return 1
    missed = sum(not claim["agrees"] for claim in found["claims"])
    total = len(found["claims"])
    print(f"research.memory: {total} claims of the paper, {missed} not reproduced; {page.PAGE.name}")
    return 0


if __name__ == "__main__":
    start(main)
