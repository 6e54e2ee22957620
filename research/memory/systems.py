"""The systems that the paper compares, on the model: Zerasure, Cerasure, ISA-L, ISA-L-D and DIALGA.

Zerasure and Cerasure are the codes and schedules of these names in packet layout (packets.py). Cerasure takes
the fewest equal sub-stripes whose sources and parities together are at most 32 streams, and the faster one of
its schedule and Zerasure's. Zerasure does not decompose, and the paper has no results of it for wide stripes.
ISA-L-D takes sub-stripes as Cerasure (the paper has "the same size", without a number). DIALGA follows the
paper's rules. Up to 12 threads, and as long as equation (1) holds for a distance of k, it uses rows of a line
and two distances, k + 4 and k at first. Otherwise it uses 256-byte blocks in shuffled order: the paper has
iterations of 256 bytes under high pressure only (4.3.3). Hill climbing finds the distances, within equation
(1).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

from gfsmith.kernel.tuning_parameters import shuffled
from research.memory import packets
from research.memory.hill_climbing import climb
from research.memory.machine import LINE, Counts, Machine, Work, machine, parameters, run
from research.memory.packets import Task
from research.memory.traversals import Cost, Kernel, Walk, call, decomposed, isal_cost

STREAMS = 32
THREADS = 12
THREAD_COUNTS = (1, 2, 4, 6, 8, 10, 12, 14, 16, 18)  #: of the paper's curves
OFF = "off"
HALF = LINE // 2  #: bytes of a 256-bit vector
FIRST_EXTRA = 4
LINES = 4
FURTHEST = 512  #: lines; a longer distance is useless


@dataclass(frozen=True, slots=True)
class Setting:
    """Device and prefetcher, named as in model.toml; frequency of the CPU and bytes of its vectors; stripes.

    A decoder computes m lost chunks from k others, with the same streams as an encoder. Local codes have
    GROUPS outputs more."""

    k: int
    m: int = 4
    length: int = 1024
    threads: int = 1
    device: str = "optane-100"
    prefetcher: str = "stream32"
    ghz: float = 0.0  #: 0: as in model.toml
    vector: int = LINE
    task: Task = Task.ENCODE

    @property
    def machine(self) -> Machine:
        found = machine(self.device, self.prefetcher)
        return found.replace(cycle=round(1000 / self.ghz)) if self.ghz else found

    @property
    def outputs(self) -> int:
        return self.m + (packets.GROUPS if self.task is Task.LOCAL else 0)

    @property
    def cost(self) -> Cost:
        return isal_cost(self.outputs, self.vector)

    @property
    def work(self) -> Work:
        return Work(self.k, self.outputs, self.length, self.threads)


def off(s: Setting) -> Setting:
    return replace(s, prefetcher=OFF)


def percent(media: float) -> float:
    """Return the excess reads in percent."""
    return 100 * (media - 1)


def buffered(device: str) -> int:
    """Return the bytes of the device's buffer, all channels together, and of its line."""
    table = parameters()["device"][device]
    return int(table["buffer"] * table["channels"])


def furthest(s: Setting) -> int:
    """Return the longest distance for which equation (1) holds, with stores around the cache; at least 0."""
    size = buffered(s.device)
    if size == 0:
        return FURTHEST
    rows = size // (s.threads * s.k * int(parameters()["device"][s.device]["line"]))
    return min(FURTHEST, rows * s.k)


def with_kernel(s: Setting, kernel: Kernel) -> Counts:
    return run(s.machine, call(s.k, s.outputs, s.length, kernel, s.cost), s.work)


@functools.cache
def isal(s: Setting) -> Counts:
    return with_kernel(s, Kernel())


@functools.cache
def isal_d(s: Setting) -> Counts:
    part = STREAMS - s.outputs
    return run(s.machine, decomposed(s.k, s.outputs, s.length, part, s.cost), s.work)


@functools.cache
def zerasure(s: Setting) -> Counts:
    return run(s.machine, packets.call("zerasure", "matched", s.k, s.m, s.length), s.work)


@functools.cache
def cerasure(s: Setting) -> Counts:
    """Return the counts of the faster of the two schedules, as the paper reports Cerasure's best speed."""
    calls = (
        packets.call("cerasure", how, s.k, s.m, s.length, STREAMS - s.outputs, s.task)
        for how in ("derived", "matched")
    )
    return max((run(s.machine, each, s.work) for each in calls), key=lambda counts: counts.gbps)


def _climbed(s: Setting, kernel: Kernel) -> Kernel:
    """Return the kernel with distances from hill climbing: first that of most lines, then that of first
    lines."""
    most = furthest(s)

    def speed(distance: int) -> float:
        return with_kernel(s, replace(kernel, distance=distance)).gbps

    best = replace(kernel, distance=climb(speed, kernel.distance, max(most, 1), 1)[0])
    if not kernel.first:
        return best
    first, _ = climb(lambda d: with_kernel(s, replace(best, first=d)).gbps, kernel.first, max(most, 1), 1)
    return replace(best, first=first)


def high_pressure(s: Setting) -> bool:
    return s.threads > THREADS or furthest(s) < s.k


@functools.cache
def dialga_kernel(s: Setting) -> Kernel:
    if high_pressure(s):
        return _climbed(s, Kernel(Walk.TOGETHER, LINES, shuffled(LINES), s.k))
    return _climbed(s, Kernel(distance=s.k, first=s.k + FIRST_EXTRA))


@functools.cache
def dialga(s: Setting) -> Counts:
    return with_kernel(s, dialga_kernel(s))


@functools.cache
def rows_only(s: Setting) -> Counts:
    """Return the counts of DIALGA's rows with one distance, without buffer-friendly prefetching (figure
    18)."""
    return with_kernel(s, _climbed(s, Kernel(distance=s.k)))
