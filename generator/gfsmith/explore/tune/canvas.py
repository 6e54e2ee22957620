"""Common parts of all pictures of a study: paper, colours, words.

Every picture has its own matplotlib Figure, so this module has no global state. Colours are those of Okabe
and Ito and the maps `cividis` and `PuOr`, which people with any kind of colour vision can distinguish. A
marker, a line style or a number repeats the information of each colour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gfsmith.explore.tune.result import Cell, Measurement, Phase, Regime

BLACK, ORANGE, BLUE, GREEN, RED = "#000000", "#e69f00", "#0072b2", "#009e73", "#d55e00"
GREY = "#9a9a9a"
DPI = 110
_COLUMNS = 3  #: panels side by side
REGIME = {Regime.CACHED: "in cache", Regime.MEMORY: "from memory"}

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Picture:
    """One PNG. text: its content and how to read it, for the page."""

    file: str
    title: str
    text: str
    figure: Figure


def size(length: float, _: object = None) -> str:
    """Return bytes in the most readable unit: 512 B, 4 KiB."""
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if length >= factor:
            return f"{length / factor:g} {unit}"
    return f"{length:g} B"


def grouped(things: Iterable[Any], key: Callable[[Any], Key]) -> dict[Key, list[Any]]:
    """Return things by a key, in the order of their first occurrence."""
    found: dict[Key, list[Any]] = {}
    for thing in things:
        found.setdefault(key(thing), []).append(thing)
    return found


def file_name(*words: str) -> str:
    """Return the name of the PNG: words of letters, digits and underscores."""
    return "-".join("".join(c if c.isalnum() else "_" for c in word) for word in words) + ".png"


def best_known(measurements: Iterable[Measurement]) -> dict[tuple[Cell, str], Measurement]:
    """Return one measurement of each variant in each cell: that of the final if there is one."""
    found: dict[tuple[Cell, str], Measurement] = {}
    for m in sorted(measurements, key=lambda m: m.phase is Phase.FINAL):
        found[m.cell, m.symbol] = m
    return found


def panels_of(count: int) -> tuple[Figure, list[Axes]]:
    """Return a figure with `count` panels of equal size."""
    columns = 2 if count == 4 else min(count, _COLUMNS)
    rows = -(-count // columns)
    figure = Figure(figsize=(1.2 + 4.2 * columns, 0.8 + 3.4 * rows), dpi=DPI, layout="constrained")
    panels = [figure.add_subplot(rows, columns, n + 1) for n in range(count)]
    return figure, panels
