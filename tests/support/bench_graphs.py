"""Graphs of the benchmark's cells, as gfsmith_graph_json writes them."""

from __future__ import annotations

import json
from typing import Any

from bench.compose import plan
from gfsmith.graph import request
from gfsmith.repair import planner


def record(cell: plan.Cell) -> dict[str, Any]:
    """Return the graph that bench/compose/driver/cell.c requests for a cell."""
    code = planner.codec("lrc" if cell.l else "cauchy", cell.k, cell.m, cell.l or None)
    last = cell.k + cell.m
    if cell.task == plan.ENCODE:
        text = request.encoding_text(cell.scheme, code, tuple(range(last)), last)
    else:
        holders = tuple(last if n == plan.LOST else n for n in range(last))
        text = request.decoding_text(cell.scheme, code, holders, [plan.LOST], None, {plan.LOST: last})
    found: dict[str, Any] = json.loads(text)
    return found
