"""Graphs of the bench's cells, as gfsmith_graph_json writes them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.compose import plan
from gfsmith.codes import shape as code_shape
from gfsmith.graph import form, request


def record(cell: plan.Cell) -> dict[str, Any]:
    """The graph that bench/compose/driver/cell.c asks for."""
    matrix = code_shape.matrix_of("lrc" if cell.l else "cauchy", cell.k, cell.m, cell.l or None)
    code = request.Code(polynomial=0x11D, parity=matrix, mds=not cell.l)
    last = cell.k + cell.m
    if cell.task == plan.ENCODE:
        graph = request.encoding(cell.scheme, code, tuple(range(last)), last)
    else:
        holders = tuple(last if n == plan.LOST else n for n in range(last))
        graph = request.decoding(cell.scheme, code, holders, [plan.LOST], None, {plan.LOST: last})
    found: dict[str, Any] = json.loads(form.text(graph))
    return found
