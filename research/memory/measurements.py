"""Measurements of bench/adaptive on this machine's DRAM, for claims of the paper with a corresponding
cell."""

from __future__ import annotations

import json
from collections.abc import Callable

from bench.build import RESULTS

MEASURED = RESULTS / "adaptive.json"

#: Function of the adaptive codec's speed over that of ISA-L and over that of ISA-L-D.
_Figure = Callable[[float, float], float]


def _over_isal(isal: float, decomposed: float) -> float:
    return isal


def _decomposed(isal: float, decomposed: float) -> float:
    return isal / decomposed


#: Name of a claim -> k of a cell with four parities, 1 KiB, one thread and stripes in order; the figure's
#: function.
CLAIMS: dict[str, tuple[int, _Figure]] = {
    "figure 10: DIALGA over the best other, k = 16": (16, min),
    "figure 10: the same, k = 32": (32, min),
    "figure 10: DIALGA over ISA-L, k = 48": (48, _over_isal),
    "figure 10: ISA-L-D over ISA-L, k = 48": (48, _decomposed),
    "figure 10: DIALGA over ISA-L, k = 64": (64, _over_isal),
    "figure 10: ISA-L-D over ISA-L, k = 64": (64, _decomposed),
}


def measured() -> dict[str, str]:
    """Return claim name -> figure as text, without claims that have no cell; empty without results."""
    if not MEASURED.exists():
        return {}
    cells = json.loads(MEASURED.read_text(encoding="utf-8"))["cells"]
    found = {name: (cells.get(f"{k}+4/1024/1", {}), figure) for name, (k, figure) in CLAIMS.items()}
    return {
        name: f"{figure(cell['gain_isal'][0], cell['gain_isal_d'][0]):.2f}"
        for name, (cell, figure) in found.items()
        if "gain_isal" in cell
    }
