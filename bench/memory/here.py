"""What bench/adaptive measured on this machine's DRAM, for claims of the paper that it has a cell for."""

from __future__ import annotations

import json
from collections.abc import Callable

from bench.build import ROOT

RESULTS = ROOT / "bench" / "adaptive" / "results.json"

#: A figure, of the adaptive codec's speed over that of ISA-L and over that of ISA-L-D.
_Figure = Callable[[float, float], float]


def _over_isal(isal: float, decomposed: float) -> float:
    return isal


def _decomposed(isal: float, decomposed: float) -> float:
    return isal / decomposed


#: A claim's name -> k of a cell with four parities, 1 KiB, one thread and stripes in order; its figure there.
CLAIMS: dict[str, tuple[int, _Figure]] = {
    "figure 10: DIALGA over the best other, k = 16": (16, min),
    "figure 10: the same, k = 32": (32, min),
    "figure 10: DIALGA over ISA-L, k = 48": (48, _over_isal),
    "figure 10: ISA-L-D over ISA-L, k = 48": (48, _decomposed),
    "figure 10: DIALGA over ISA-L, k = 64": (64, _over_isal),
    "figure 10: ISA-L-D over ISA-L, k = 64": (64, _decomposed),
}


def measured() -> dict[str, str]:
    """A claim's name -> the figure, as text; those without a cell, and all without results, are left out."""
    if not RESULTS.exists():
        return {}
    cells = json.loads(RESULTS.read_text(encoding="utf-8"))["cells"]
    found = {name: (cells.get(f"{k}+4/1024/1", {}), figure) for name, (k, figure) in CLAIMS.items()}
    return {
        name: f"{figure(cell['gain_isal'][0], cell['gain_isal_d'][0]):.2f}"
        for name, (cell, figure) in found.items()
        if "gain_isal" in cell
    }
