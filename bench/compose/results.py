"""results.json: what was measured, cell by cell, so that a run can go on from where it stopped."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

from bench.compose.measure import Measured
from bench.compose.plan import COMPOSED, CONTENDERS, INCOHERENT
from bench.compose.quantiles import PERCENTILES, compare, enough
from bench.compose.work import work_json, work_of
from bench.machine import describe
from gfsmith.files import replacing
from gfsmith.stats import Estimate, estimate, paired_ratio

#: Tables of the file, a line for each of their entries.
TABLES = ("cells", "graphs", "ycsb")

Json = dict[str, Any]


class OtherRun(Exception):
    """The file holds results of another library or setting; the text says so."""


def figures(found: Estimate, scale: float = 1.0, digits: int = 4) -> list[float]:
    """Median, low and high, with so many digits that count."""
    return [float(f"{value * scale:.{digits}g}") for value in (found.median, found.low, found.high)]


def estimate_of(kept: list[float]) -> Estimate:
    return Estimate(*kept)


def _latency_json(one: Measured) -> Json:
    """Microseconds; ratios are composed / incoherent, so below 1 the composed one is faster."""
    count = min(sum(map(len, one.rounds[who])) for who in CONTENDERS)
    told = [percentile for percentile in PERCENTILES if enough(count, percentile)]
    both = compare(one.rounds[COMPOSED], one.rounds[INCOHERENT])
    found: Json = {}
    for who, figure in zip(CONTENDERS, (both.above, both.below), strict=True):
        rounds = one.rounds[who]
        found[who] = {
            "operations": sum(map(len, rounds)),
            "medians": [float(f"{statistics.median(some) * 1e6:.5g}") for some in rounds],
            **{f"p{p}": figures(figure[p], 1e6) for p in told},
        }
    return found | {"ratio": {f"p{p}": figures(both.ratio[p]) for p in told}}


def _bandwidth_json(one: Measured) -> Json:
    """MB/s; the ratio is composed / incoherent, so above 1 the composed one is faster."""
    rates = {who: [value for some in one.rounds[who] for value in some] for who in CONTENDERS}
    found: Json = {who: {"rate": figures(estimate(rates[who]), 1e-6)} for who in CONTENDERS}
    found["ratio"] = figures(paired_ratio(rates[COMPOSED], rates[INCOHERENT]))
    return found


def cell_json(one: Measured) -> Json:
    """What is kept of a cell."""
    cell = one.cell
    return {
        "graph": cell.graph,
        "scheme": cell.scheme,
        "task": cell.task,
        "shape": cell.shape,
        "length": cell.length,
        "slice": cell.slice,
        "window": cell.window,
        **(_latency_json(one) if cell.window == 1 else _bandwidth_json(one)),
    }


def graph_json(one: Measured) -> Json:
    return work_json(work_of(one.graph))


def _text(content: Json) -> str:
    """The file: an entry of a table a line."""
    parts = []
    for key, value in content.items():
        if key in TABLES:
            lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(one)}" for name, one in value.items())
            parts.append(f' "{key}": {{\n{lines}\n }}')
        else:
            parts.append(f' "{key}": {json.dumps(value)}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


class Store:
    """The file, whole after every cell."""

    def __init__(self, path: Path, library: str, method: Json, fresh: bool) -> None:
        """Raises OtherRun if the file is there, and of another machine, library or setting."""
        self._path = path
        self.content: Json = {"machine": describe(), "library": library, "method": method, "calc": {}}
        self.content |= {table: {} for table in TABLES}
        if path.exists() and not fresh:
            kept = json.loads(path.read_text())
            for key in ("machine", "library", "method"):
                if kept[key] != self.content[key]:
                    raise OtherRun(
                        f"{path.name} is of another {key}: --fresh begins anew, --out goes elsewhere"
                    )
            self.content = kept

    def put(self, table: str, name: str, value: Json) -> None:
        self.content[table][name] = value
        self.save()

    def save(self) -> None:
        with replacing(self._path) as fresh:
            fresh.write_text(_text(self.content))
