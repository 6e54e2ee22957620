"""A study as a table and as text of a file."""

from __future__ import annotations

import json

from rich.console import Console
from rich.table import Table

from gfsmith.tune.result import Interval, Phase, Study, to_json


def _length(length: int) -> str:
    for unit, size in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if length % size == 0:
            return f"{length // size} {unit}"
    return f"{length} B"


def _interval(found: Interval) -> str:
    return f"{found.median:.3f} ({found.low:.3f} .. {found.high:.3f})"


def json_text(study: Study) -> str:
    return json.dumps(to_json(study), separators=(",", ":")).replace('},{"cell"', '},\n{"cell"') + "\n"


def table(console: Console, study: Study) -> None:
    """Winners of all cells, what goes into the tuned file, and how much was tried."""
    winners = Table("SPEC", "regime", "length", "winner", "speed over untuned", "GB/s", "tied")
    for won in study.winners:
        cell = won.cell
        winners.add_row(
            cell.target, cell.regime.value, _length(cell.length), won.symbol if won.changed else "(untuned)",
            _interval(won.speed), f"{won.rate.median:.1f}", str(len(won.tied) - 1),
        )  # fmt: skip
    console.print(winners)
    for choice in study.choices:
        least = min(choice.gains.values(), key=lambda g: g.median, default=None)
        gain = f", at least {least.median:.3f} times as fast" if least else ""
        console.print(f"{choice.target} {choice.path}: {'+'.join(choice.symbols)}{gain}")
    tried = {(m.cell, m.symbols) for m in study.measurements if m.phase is Phase.SEARCH}
    console.print(
        f"{len(tried)} variants in {len({c for c, _ in tried})} cells, {len(study.winners)} finals, "
        f"{study.seconds:.0f} s, intervals at {study.confidence:.0%}"
    )
