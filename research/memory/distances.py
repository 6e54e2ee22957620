"""Comparison of two prefetch distances with one (figure 18), also on machines with other numbers.

A row compares the best single distance with the best pair, both found by trying all of a grid, in rows of a
line, with the hardware prefetcher. `bound`: the rate at which the fill buffers of one core can receive lines
from the device without the prefetcher's help, if all of them wait all of the time.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from research.memory.machine import LINE, Machine, run
from research.memory.systems import Setting
from research.memory.traversals import DEVICE_LINES, Kernel, call

#: Name -> changed numbers of the machine.
MACHINES: dict[str, dict[str, int]] = {
    "as calibrated": {},
    "hit 124 ns": {"hit": 124_000},
    "24 fill buffers": {"fill_buffers": 24},
    "both": {"hit": 124_000, "fill_buffers": 24},
}
KS = (8, 24, 48)


@dataclass(frozen=True, slots=True)
class Distances:
    """GB/s, with the distances in lines."""

    k: int
    machine: str
    bound: float
    at_k: float  #: with the single distance k, from which the search begins
    one: tuple[int, float]
    two: tuple[int, int, float]

    @property
    def gain(self) -> float:
        return self.two[-1] / self.one[-1]


def _bound(machine: Machine) -> float:
    """Return fill buffers times bytes of a line over the average latency of the lines of a device line."""
    n = machine.numbers
    latency = (n["latency"] + (DEVICE_LINES - 1) * n["hit"]) / DEVICE_LINES
    return n["fill_buffers"] * LINE / latency * 1000


def grid(k: int) -> range:
    """Return distances around k: from half of it to three times."""
    step = max(4, k // 8 // 4 * 4)
    return range(k // 2 // 4 * 4, 3 * k + 1, step)


def compare(k: int, name: str) -> Distances:
    s = Setting(k)
    machine = s.machine.replace(**MACHINES[name])

    def speed(distance: int, first: int = 0) -> float:
        kernel = Kernel(distance=distance, first=first)
        return round(run(machine, call(k, s.m, s.length, kernel, s.cost), s.work).gbps, 3)

    one = max((speed(d), -d) for d in grid(k))
    two = max((speed(d, first), -d, -first) for d, first in product(grid(k), repeat=2))
    bound = round(_bound(machine), 3)
    return Distances(k, name, bound, speed(k), (-one[1], one[0]), (-two[1], -two[2], two[0]))


def distances() -> list[Distances]:
    return [compare(k, name) for k in KS for name in MACHINES]
