"""Verdicts as data: bench/results/verdicts.json, and their comparison with the expected ones."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.verdicts.libraries import Library
from gfsmith.emit.files import replacing
from gfsmith.prove.machine.prove import Report
from gfsmith.prove.verdict import Status
from gfsmith.verify.contracts import Entry


@dataclass(frozen=True, slots=True)
class Finding:
    """The verdict about one function, and the output of the program that shows its refutation ("": none)."""

    entry: Entry
    report: Report
    shown: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The verdicts about a library, or the reason why its objects could not be made."""

    library: Library
    findings: tuple[Finding, ...]
    missing: str = ""


def settled(reason: str) -> str:
    """Return a reason without the prover's counters of unknowns, which depend on the order of proofs."""
    return re.sub(r"(?<=\*r)\d+\b", "0", re.sub(r" #\d+(?= )", "", reason))


def _record(finding: Finding) -> dict[str, Any]:
    record = {
        "symbol": finding.entry.words.symbol,
        "contract": finding.entry.contract,
        "status": finding.report.status.value,
        "reason": settled(finding.report.reason),
    }
    return record | ({"shown": finding.shown} if finding.shown else {})


def write(path: Path, outcomes: Sequence[Outcome]) -> None:
    """Write all verdicts, one function per line."""
    parts = []
    for outcome in outcomes:
        library = outcome.library
        head = {"name": library.name, "version": library.version, "origin": library.origin}
        if outcome.missing:
            head["missing"] = outcome.missing
        lines = ",\n".join(f"   {json.dumps(_record(finding))}" for finding in outcome.findings)
        fields = "".join(f'  "{key}": {json.dumps(value)},\n' for key, value in head.items())
        parts.append(f' {{\n{fields}  "functions": [\n{lines}\n  ]\n }}')
    with replacing(path) as fresh:
        fresh.write_text("[\n" + ",\n".join(parts) + "\n]\n")


def deviations(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield a line for each verdict that differs from the expected one, and for each refutation whose program
    does not show it."""
    for finding in (finding for outcome in outcomes for finding in outcome.findings):
        entry, report = finding.entry, finding.report
        if report.status is not entry.expect:
            what = report.reason or entry.words.symbol
            yield f"{report.status.value}, expected {entry.expect.value}: {what}"
        elif "reproduction" in entry.more and not finding.shown:
            yield f"not shown by {entry.more['reproduction']}: {report.reason}"


def summary(outcomes: Sequence[Outcome]) -> str:
    counts = Counter(finding.report.status for outcome in outcomes for finding in outcome.findings)
    return ", ".join(f"{counts[status]} {status.value}" for status in Status)
