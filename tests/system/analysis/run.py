"""make analyze: run Eva on every driver, compare the alarms with reviewed.toml, and write results.json.

.venv/bin/python -m tests.system.analysis.run [NAME ...]

With names only these drivers run, and results.json is not written. The exit status is 1 if a property is
neither shown nor reviewed, or if a reviewed property no longer occurs.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from gfsmith.emit.files import replacing
from tests.system.analysis.drivers import BY_NAME, HERE
from tests.system.analysis.frama_c import MACHINE, AnalysisError, Outcome, run, version
from tests.system.analysis.review import entries, objections

RESULTS = HERE / "results.json"


def counts(outcome: Outcome) -> dict[str, int]:
    """Return the numbers of an outcome that the documentation states."""
    return {
        "functions": len(outcome.functions),
        "statements reached": sum(reached for reached, _ in outcome.functions.values()),
        "statements": sum(present for _, present in outcome.functions.values()),
        "properties shown": outcome.shown,
        "properties not shown": len(outcome.alarms),
    }


def line(name: str, number: int, outcome: Outcome) -> str:
    found = counts(outcome)
    return (
        f"analyze: {number}/{len(BY_NAME)} {name}: {found['functions']} functions, "
        f"{found['statements reached']} of {found['statements']} statements, "
        f"{found['properties shown']} properties shown, {found['properties not shown']} not"
    )


def results(outcomes: Mapping[str, Outcome]) -> dict[str, Any]:
    """Return the contents of results.json."""
    return {
        "frama-c": version(),
        "machine": MACHINE,
        "drivers": {
            name: {"bounds": BY_NAME[name].bounds, **counts(outcome), "reached": sorted(outcome.functions)}
            for name, outcome in outcomes.items()
        },
    }


def write(outcomes: Mapping[str, Outcome]) -> None:
    with replacing(RESULTS) as path:
        path.write_text(json.dumps(results(outcomes), indent=1) + "\n")


def analyze(names: Sequence[str]) -> dict[str, Outcome]:
    outcomes = {}
    for number, name in enumerate(names, 1):
        outcomes[name] = run(BY_NAME[name])
        print(line(name, number, outcomes[name]), flush=True)
    return outcomes


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="analyze")
    parser.add_argument("names", nargs="*", choices=[[], *BY_NAME], metavar="NAME")
    names = parser.parse_args(arguments).names
    if shutil.which("frama-c") is None:
        sys.exit("analyze: frama-c is missing: tools/setup.sh analyze installs it")
    try:
        reviewed = entries()
        outcomes = analyze(names or list(BY_NAME))
    except (AnalysisError, ValueError) as error:
        sys.exit(f"analyze: {error}")
    found = objections({name: outcome.alarms for name, outcome in outcomes.items()}, reviewed)
    print("\n".join(f"analyze: {each}" for each in found) or "analyze: every property is shown or reviewed")
    if not names and not found:
        write(outcomes)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
