"""python -m bench.verdicts: prove or refute kernels of other libraries into bench/results/verdicts.json."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

from bench.build import BUILD, RESULTS
from bench.options import OneLineParser, start
from bench.peers.clients import Unavailable
from bench.verdicts import page, results
from bench.verdicts.libraries import BUILDERS, Library, object_of, read
from bench.verdicts.reproductions import reproduce
from bench.verdicts.results import Finding, Outcome
from gfsmith.cli.console import progress
from gfsmith.verify import contracts
from gfsmith.verify.contracts import Entry, Task
from gfsmith.verify.functions import ForeignError

#: A run of some of the libraries or functions.
PARTIAL = BUILD / "verdicts.json"


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = OneLineParser(
        prog="bench.verdicts", description="Prove or refute the kernels of other libraries."
    )
    parser.add_argument("--libraries", metavar="GLOBS", default="*", help=f"of {', '.join(BUILDERS)}")
    parser.add_argument("--functions", metavar="GLOBS", default="*", help="by symbol, such as '*dot_prod*'")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (one per core)")
    parser.add_argument("--out", type=Path, help="default: verdicts.json in bench/results, for all functions")
    return parser.parse_args(arguments)


def _is_wanted(name: str, globs: str) -> bool:
    return any(fnmatch(name, glob) for glob in globs.split(","))


def _made(key: str) -> Path | str:
    """Return the folder of a library's objects, or the reason why there is none."""
    try:
        return BUILDERS[key]()
    except Unavailable as error:
        return str(error).splitlines()[0]


def _entries(library: Library, globs: str) -> list[Entry]:
    return [entry for entry in library.entries if _is_wanted(entry.words.symbol, globs)]


def _outcomes(options: argparse.Namespace) -> Iterator[Outcome]:
    """Yield the verdicts of each library."""
    for key in BUILDERS:
        if not _is_wanted(key, options.libraries):
            continue
        library, made = read(key), _made(key)
        if isinstance(made, str):
            print(f"{library.name}: not available: {made}", file=sys.stderr)
            yield Outcome(library, (), made)
            continue
        tasks = [Task(object_of(made, entry), entry) for entry in _entries(library, options.functions)]
        with progress(f"prove {library.name} {library.version}", len(tasks)) as advance:
            answers = contracts.prove(tasks, options.jobs, advance)
        found = (
            Finding(task.entry, answer.report, reproduce(task, answer.report))
            for task, answer in zip(tasks, answers, strict=True)
        )
        yield Outcome(library, tuple(found))


def _run(options: argparse.Namespace) -> int:
    complete = options.libraries == options.functions == "*"
    out: Path = options.out or (RESULTS / "verdicts.json" if complete else PARTIAL)
    outcomes = list(_outcomes(options))
    results.write(out, outcomes)
    if complete:
        page.write(out.with_suffix(".md"), outcomes)
    for line in (wrong := list(results.deviations(outcomes))):
        print(line, file=sys.stderr)
    print(f"{results.summary(outcomes)}: {out.name}")
    return 1 if wrong else 0


def main(arguments: Sequence[str] | None = None) -> int:
    options = _arguments(arguments)
    try:
        return _run(options)
    except ForeignError as error:
        print(f"bench.verdicts: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("bench.verdicts: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    start(main)
