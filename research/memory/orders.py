"""Orders of lines that do not trigger a stream prefetcher, on prefetchers with different triggers."""

from __future__ import annotations

from dataclasses import dataclass

from gfsmith.kernel.tuning_parameters import shuffled
from research.memory.machine import run
from research.memory.systems import Setting
from research.memory.traversals import Kernel, Walk, call, isal_cost

TRIGGERS = (2, 3, 4, 8)
SETTING = Setting(24, length=4096)


def zigzag(lines: int) -> tuple[int, ...]:
    """Return the first order of the design: 3 4 2 5 1 6 0 7. It rises three times in a row where iterations
    meet."""
    return tuple(lines - 1 - line for line in shuffled(lines))


def _reversed_bits(lines: int) -> tuple[int, ...]:
    bits = lines.bit_length() - 1
    return tuple(int(f"{n:0{bits}b}"[::-1], 2) for n in range(lines))


def orders(lines: int) -> dict[str, tuple[int, ...]]:
    return {
        "in order": tuple(range(lines)),
        "zigzag": zigzag(lines),
        "mirrored zigzag": shuffled(lines),
        "bits reversed": _reversed_bits(lines),
        "backwards": tuple(reversed(range(lines))),
    }


@dataclass(frozen=True, slots=True)
class Quiet:
    """Hardware prefetches per loaded line, by the number of steps in one direction that trigger the
    prefetcher."""

    walk: str
    lines: int
    name: str
    order: tuple[int, ...]
    prefetches: dict[str, float]


def quiet() -> list[Quiet]:
    found = []
    for walk, lines in ((Walk.ROWS, 8), (Walk.ROWS, 4), (Walk.TOGETHER, 4)):
        for name, order in orders(lines).items():
            share = {}
            for trigger in TRIGGERS:
                events = call(
                    SETTING.k, SETTING.m, SETTING.length, Kernel(walk, lines, order), isal_cost(SETTING.m)
                )
                counts = run(SETTING.machine.replace(trigger=trigger), events, SETTING.work)
                share[str(trigger)] = round(counts.hardware / counts.loaded, 3)
            found.append(Quiet(walk.value, lines, name, order, share))
    return found
