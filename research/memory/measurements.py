"""Measurements of bench/adaptive on this machine's DRAM, for claims of the paper with a corresponding cell,
and the reasons for which the other claims have none."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from bench.build import RESULTS

MEASURED = RESULTS / "adaptive-paper.json"

#: A ratio of medians with the ends of its interval.
_Ratio = tuple[float, float, float]
#: Function of the adaptive codec's speed over that of ISA-L and over that of ISA-L-D.
_Figure = Callable[[_Ratio, _Ratio], _Ratio]


def _over_isal(isal: _Ratio, decomposed: _Ratio) -> _Ratio:
    return isal


def _decomposed(isal: _Ratio, decomposed: _Ratio) -> _Ratio:
    """Return the speed of ISA-L-D over that of ISA-L, with the widest interval that the two allow."""
    return isal[0] / decomposed[0], isal[1] / decomposed[2], isal[2] / decomposed[1]


def _cells() -> dict[str, tuple[str, _Figure]]:
    """Return the name of a claim -> a cell in sequential order with one thread, and the figure's function."""
    found: dict[str, tuple[str, _Figure]] = {"figure 10: the same, k = 32": ("32+4/1024/1", min)}
    for k in (8, 12, 16):
        found[f"figure 10: DIALGA over the best other, k = {k}"] = (f"{k}+4/1024/1", min)
    for k in (48, 64):
        found[f"figure 10: DIALGA over ISA-L, k = {k}"] = (f"{k}+4/1024/1", _over_isal)
        found[f"figure 10: ISA-L-D over ISA-L, k = {k}"] = (f"{k}+4/1024/1", _decomposed)
    for k in (8, 24, 48):
        for m in (2, 3, 4):
            found[f"figure 11: DIALGA over the best other, k = {k}, m = {m}"] = (f"{k}+{m}/1024/1", min)
    for k in (8, 24):
        for length in (256, 512, 1024):
            name = f"figure 12: DIALGA over the best other, k = {k}, {length} B"
            found[name] = (f"{k}+4/{length}/1", min)
        found[f"figure 12: 4 KiB: limited (here: under 25 %), k = {k}"] = (f"{k}+4/4096/1", min)
        found[f"figure 12: 5 KiB, k = {k}"] = (f"{k}+4/5120/1", min)
    return found


CLAIMS = _cells()

#: Pattern of a claim's name -> the reason for which this machine has no figure; docs/memory.md explains them.
REASONS = {
    r"DRAM over PM|on PM$": "no PM",
    r"^figure 4": "fixed frequency",
    r"excess reads|useless|near zero|^figure 17|^figure 19": "no counters",
    r"no effect|prefetcher helps|gain of the prefetcher|the prefetcher's gain|^figure 18": "no switch",
    r"^observation 5|^figure 13": "2 processors",
    r"^observation 3|minimal loss": "not paired",
    r"Zerasure|Cerasure": "packets.md",
    r"^figure 1[456]": "no cell",
}


def measured(cells: Mapping[str, Any] | None = None) -> dict[str, _Ratio]:
    """Return claim name -> figure, without claims that have no cell; empty without results."""
    if cells is None:
        if not MEASURED.exists():
            return {}
        cells = json.loads(MEASURED.read_text(encoding="utf-8"))["cells"]
    found = {name: (cells.get(at, {}), figure) for name, (at, figure) in CLAIMS.items()}
    return {
        name: figure(tuple(cell["gain_isal"]), tuple(cell["gain_isal_d"]))
        for name, (cell, figure) in found.items()
        if "gain_isal" in cell
    }


def text_of(claim: str, here: Mapping[str, _Ratio]) -> str:
    """Return the figure of a claim with its interval, or the reason that there is none."""
    if claim in here:
        value, low, high = here[claim]
        return f"{value:.2f} ({low:.2f}..{high:.2f})"
    return next((why for pattern, why in REASONS.items() if re.search(pattern, claim)), "-")
