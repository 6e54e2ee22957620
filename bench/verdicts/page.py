"""The page of verdicts: one row for functions with the same contract and answer."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

from bench.machine import describe
from bench.result_store import table
from bench.verdicts.results import Finding, Outcome, settled, summary
from gfsmith.emit.files import replacing
from gfsmith.prove.verdict import Status
from gfsmith.verify.functions import Description

_HEAD = """\
# Verdicts on other libraries

`make verdicts` writes this page; [docs/verdicts.md](../../docs/verdicts.md) explains it.
`verdicts.json` has one record per function. The symbols in a reason, such as `c[i][j]` and `n`, are
those of [docs/how-a-proof-is-read.md](../../docs/how-a-proof-is-read.md#answers).

Answers: {numbers}. Programs were executed on: {machine}.
"""
_HEADINGS = ("functions", "number", "contract", "verdict", "reason")
_SWITCHES = {
    "in_place": "in place",
    "dirty_upper": "upper halves may stay in use",
    "unfenced": "no fence",
    "frozen_data": "constants in writable data",
    "unwind": "unwind tables",
}


def _numbers(values: Sequence[int]) -> str:
    """Return numbers in few words: 1, {1,3} or {1..6}."""
    if len(values) == 1:
        return str(values[0])
    whole = list(values) == list(range(values[0], values[-1] + 1)) and len(values) > 2
    return f"{{{values[0]}..{values[-1]}}}" if whole else f"{{{','.join(map(str, values))}}}"


def names(symbols: Sequence[str]) -> Iterator[str]:
    """Yield symbols, those that differ only in all combinations of some numbers as one pattern."""
    shapes: dict[str, list[tuple[int, ...]]] = defaultdict(list)
    for symbol in symbols:
        shape = re.sub(r"\d+", "{}", symbol.replace("{", "{{").replace("}", "}}"))
        shapes[shape].append(tuple(map(int, re.findall(r"\d+", symbol))))
    for shape, found in shapes.items():
        columns = [sorted(set(column)) for column in zip(*found, strict=True)]
        if sorted(set(found)) == sorted(product(*columns)):
            yield shape.format(*map(_numbers, columns))
        else:
            yield from (shape.format(*numbers) for numbers in found)


def _shape(found: Sequence[Finding]) -> str:
    """Return the numbers of sources."""
    counts = {each.entry.words.columns or each.entry.words.inputs for each in found}
    fixed = sorted(count for count in counts if count is not None)
    return ", ".join([*(["any k"] if None in counts else []), *([f"k = {_numbers(fixed)}"] if fixed else [])])


def contract(words: Description) -> str:
    """Return the contract of a function in words."""
    parts = [words.operation, words.isa, f"({words.arguments})"]
    parts += [word for word in (words.tables, words.matrix) if word not in ("none", None)]
    text = [" ".join(parts)]
    if words.minimum:
        text.append(f"len from {words.minimum}")
    if words.granule > 1:
        beginning = "any len, rounded down to" if words.rounds_down else "len"
        text.append(f"{beginning} a multiple of {words.granule}")
    if words.start_granule > 1:
        text.append(f"start a multiple of {words.start_granule}")
    if words.aligned > 1:
        text.append(f"aligned to {words.aligned}")
    if words.features:
        text.append(f"may use {', '.join(words.features)}")
    return "; ".join([*text, *(name for key, name in _SWITCHES.items() if getattr(words, key))])


def _reason(finding: Finding) -> str:
    """Return the reason without the function's name, and the output of its program."""
    text = settled(finding.report.reason).removeprefix(f"{finding.entry.words.symbol}: ")
    return f"{text}. Executed: {finding.shown}" if finding.shown else text


def _rows(outcome: Outcome) -> Iterator[list[str]]:
    groups: dict[tuple[str, ...], list[Finding]] = defaultdict(list)
    for finding in outcome.findings:
        entry = finding.entry
        kind = re.sub(r"\d+", "", re.sub(r"^byte \d+: ", "", _reason(finding)))
        groups[entry.contract, contract(entry.words), finding.report.status.value, kind].append(finding)
    for (label, text, status, _), found in groups.items():
        short = [each.entry.words.symbol.rpartition("/")[2] for each in found]
        symbols = ", ".join(f"`{name}`" for name in names(short))
        reason = _reason(found[0]).replace("|", "\\|")
        yield [symbols, str(len(found)), f"{label}: {text}; {_shape(found)}", status, reason]


def _section(outcome: Outcome) -> Iterator[str]:
    library = outcome.library
    yield f"## {library.name} {library.version}\n"
    yield f"From {library.origin}.\n"
    if outcome.missing:
        yield f"Not available on this machine: {outcome.missing}\n"
    yield from table(_HEADINGS, _rows(outcome), len(_HEADINGS))


def _overview(outcomes: Sequence[Outcome]) -> Iterator[str]:
    headings = ("library", "version", *(status.value for status in Status))
    rows = []
    for outcome in outcomes:
        statuses = [finding.report.status for finding in outcome.findings]
        counts = [str(statuses.count(status)) for status in Status]
        figures = ["not available"] * len(counts) if outcome.missing else counts
        rows.append([outcome.library.name, outcome.library.version, *figures])
    yield from table(headings, rows, 2)


def write(path: Path, outcomes: Sequence[Outcome]) -> None:
    """Write the page."""
    lines = [_HEAD.format(numbers=summary(outcomes), machine=describe()), *_overview(outcomes)]
    for outcome in outcomes:
        lines += _section(outcome)
    with replacing(path) as fresh:
        fresh.write_text("\n".join(lines).rstrip() + "\n")
