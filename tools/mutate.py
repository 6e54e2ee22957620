"""The mutation campaign: a test whether the machine-code prover rejects every wrong byte.

The campaign changes every single byte and every single operand in kernels of every x86 instruction set, and
the prover checks each mutant against the original's contract. The mutant must be refuted, unsupported, or
proved and then equivalent for a known reason (mutation/judge.py); --list prints the equivalent mutants. The
campaign also flips every bit of a coefficient's table entry. Exit status 1: some mutant has no such reason.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from gfsmith.build import parallel
from gfsmith.cli.console import progress
from tools.mutation import judge, tables
from tools.mutation.classify import EQUIVALENT, Class
from tools.mutation.judge import Verdict
from tools.mutation.mutants import Mutant, mutants
from tools.mutation.sample import SHAPES, X86_ISAS, Target, targets

_CHUNK = 50
_SEED = 20
_errors = Console(stderr=True)
_out = Console(markup=False, highlight=False, width=None if sys.stdout.isatty() else 160)

Chunk = tuple[Target, int, list[Mutant]]


def _chunks(chosen: Sequence[Target], part: int) -> Iterator[Chunk]:
    """Yield the mutants of all targets, in pieces; one in `part` of them, drawn with a fixed seed."""
    for target in chosen:
        every = mutants(target.code, target.spec.isa.vector_bytes)
        if part > 1:
            every = random.Random(_SEED).sample(every, -(-len(every) // part))
        steps = judge.steps_of(target)
        for first in range(0, len(every), _CHUNK):
            yield target, steps, every[first : first + _CHUNK]


def _judge_chunk(chunk: Chunk) -> list[Verdict]:
    target, steps, some = chunk
    return [judge.judge(target, mutant, steps) for mutant in some]


def campaign(chosen: Sequence[Target], part: int, jobs: int) -> list[Verdict]:
    """Return the verdicts on the mutants of all targets, in their order."""
    chunks = list(_chunks(chosen, part))
    found: dict[int, list[Verdict]] = {}
    with progress("mutants judged", sum(len(some) for _, _, some in chunks)) as advance:

        def done(number: int, verdicts: list[Verdict]) -> None:
            found[number] = verdicts
            advance(len(verdicts))

        parallel.run(_judge_chunk, chunks, jobs, done)
    return [verdict for number in sorted(found) for verdict in found[number]]


def summary(verdicts: Sequence[Verdict]) -> Table:
    """Return the counts per instruction set, with a row per outcome."""
    names = [isa.name for isa in X86_ISAS if any(v.isa == isa.name for v in verdicts)]
    counts = Counter((v.outcome, v.isa) for v in verdicts)
    table = Table("outcome")
    for name in (*names, "all"):
        table.add_column(name, justify="right")
    totals = Counter(v.isa for v in verdicts)
    table.add_row("mutants", *(str(totals[name]) for name in names), str(len(verdicts)))
    for outcome in Class:
        row = [counts[outcome, name] for name in names]
        if any(row):
            table.add_row(outcome.value, *map(str, row), str(sum(row)))
    return table


def _explain(verdicts: Sequence[Verdict], outcomes: frozenset[Class]) -> None:
    """Print one line per mutant: its place, its class, and the instructions before and after."""
    for verdict in verdicts:
        if verdict.outcome in outcomes:
            _out.print(
                f"{judge.place(verdict)}: {verdict.outcome.value}: "
                f"{verdict.before or '(same text)'} -> {verdict.after or '(same text)'}",
                soft_wrap=True,
            )
        if verdict.outcome is Class.CRASH and Class.CRASH in outcomes:
            _out.print(verdict.reason, soft_wrap=True)


def _record(verdicts: Sequence[Verdict], flips: Sequence[tables.Flip]) -> dict[str, Any]:
    return {
        "mutants": len(verdicts),
        "outcomes": Counter(v.outcome.value for v in verdicts),
        "proved": [
            {**asdict(v), "outcome": v.outcome.value}
            for v in verdicts
            if v.outcome not in (Class.REFUTED, Class.UNSUPPORTED)
        ],
        "table_bits": len(flips),
        "table_bits_caught": sum(flip.caught for flip in flips),
    }


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--isa", "names", multiple=True, type=click.Choice([i.name for i in X86_ISAS]))
@click.option("--kernels", default=4, type=click.IntRange(1, len(SHAPES)), help="Kernels per ISA.")
@click.option("--part", default=1, type=click.IntRange(1), help="Try one in this many mutants.")
@click.option("--jobs", "-j", default=os.cpu_count() or 1, type=click.IntRange(1))
@click.option("--list", "listed", is_flag=True, help="List every mutant that is equivalent.")
@click.option("--json", "path", type=click.Path(path_type=Path), help="Write all results to a file.")
def main(names: tuple[str, ...], kernels: int, part: int, jobs: int, listed: bool, path: Path | None) -> None:
    """Mutate kernels of every instruction set and check that the prover rejects the mutants."""
    isas = [isa for isa in X86_ISAS if not names or isa.name in names]
    try:
        flips = tables.flips()
        verdicts = campaign([t for isa in isas for t in targets(isa, kernels)], part, jobs)
    except KeyboardInterrupt:
        _errors.print("interrupted")
        raise SystemExit(130) from None
    if listed:
        _explain(verdicts, EQUIVALENT)
    unexplained = frozenset({Class.OTHER, Class.CRASH})
    _explain(verdicts, unexplained)
    _out.print(summary(verdicts))
    caught = sum(flip.caught for flip in flips)
    _out.print(f"bits of table entries flipped: {len(flips)}, caught: {caught}")
    if path is not None:
        path.write_text(json.dumps(_record(verdicts, flips), indent=1) + "\n", encoding="utf-8")
    if caught < len(flips) or any(v.outcome in unexplained for v in verdicts):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
