"""A study as a table and as the text of a file."""

from __future__ import annotations

import json
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from gfsmith.explore.tune.result import Cell, Interval, Measurement, Phase, Study, to_json
from gfsmith.words import counted

_BEST = 3  #: variants per target that a model's ranking shows


def size(length: int) -> str:
    """Return bytes in the greatest unit that divides them: 512 B, 4 KiB."""
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if length % factor == 0:
            return f"{length // factor} {unit}"
    return f"{length} B"


def interval(found: Interval) -> str:
    return f"{found.median:.3f} ({found.low:.3f} .. {found.high:.3f})"


def json_text(study: Study) -> str:
    return json.dumps(to_json(study), separators=(",", ":")).replace('},{"cell"', '},\n{"cell"') + "\n"


def _unfinished(study: Study) -> list[Measurement]:
    """Return the best variant of the search of each cell without a final."""
    finished = {won.cell for won in study.winners}
    best: dict[Cell, Measurement] = {}
    for found in study.measurements:
        if found.cell not in finished:
            known = best.setdefault(found.cell, found)
            best[found.cell] = max(known, found, key=lambda m: m.speed.median)
    return list(best.values())


def table(console: Console, study: Study) -> None:
    """Print the winners of all cells, the content of the tuned file, and the number of variants."""
    winners = Table("SPEC", "regime", "length", "winner", "speed over untuned", "GB/s", "tied")
    for won in study.winners:
        cell = won.cell
        winners.add_row(
            cell.target, cell.regime.value, size(cell.length), won.symbol if won.changed else "(untuned)",
            interval(won.speed), f"{won.rate.median:.1f}", str(len(won.tied) - 1),
        )  # fmt: skip
    for best in _unfinished(study):
        winners.add_row(
            best.cell.target, best.cell.regime.value, size(best.cell.length),
            f"{best.symbol} (so far, no final)", interval(best.speed), f"{best.rate.median:.1f}", "",
        )  # fmt: skip
    console.print(winners)
    for choice in study.choices:
        least = min(choice.gains.values(), key=lambda g: g.median, default=None)
        gain = f", at least {least.median:.3f} times as fast" if least else ""
        console.print(f"{choice.target} {choice.path}: {'+'.join(choice.symbols)}{gain}")
    for told in study.correlations:
        console.print(
            f"{told.cell.target}, {told.cell.regime.value}, {size(told.cell.length)}: llvm-mca's model of "
            f"{told.cpu} orders {told.variants} variants with rank correlation {told.rho:.2f} to their times"
        )
    tried = {(m.cell, m.symbols) for m in study.measurements if m.phase is Phase.SEARCH}
    console.print(
        f"{counted(len(tried), 'variant')} in {counted(len({c for c, _ in tried}), 'cell')}, "
        f"{counted(len(study.winners), 'final')}, "
        f"{study.seconds:.0f} s, intervals at {study.confidence:.0%}"
    )


def models(console: Console, study: Study, targets: Sequence[str]) -> None:
    """Print a model's ranking for a CPU: the reference and the best few variants of every target."""
    console.print(f"{study.microarchitecture}, according to llvm-mca's model only:")
    ranking = Table("SPEC", "kernel", "cycles per 64 bytes of each shard", "chosen")
    chosen = {choice.symbols for choice in study.choices}
    for target in targets:
        ordered = sorted((p for p in study.predictions if p.target == target), key=lambda p: p.cycles)
        if not any(p.reference for p in ordered):
            ranking.add_row(target, "(untuned)", "the model lacks its instructions", "")
        shown = [p for n, p in enumerate(ordered) if n < _BEST or p.reference or p.symbols in chosen]
        for told in shown:
            name = "+".join(told.symbols) + (" (untuned)" if told.reference else "")
            ranking.add_row(target, name, f"{told.cycles:.2f}", "yes" if told.symbols in chosen else "")
    console.print(ranking)
