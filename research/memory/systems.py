"""The systems that the paper compares, on the model: Zerasure, Cerasure, ISA-L, ISA-L-D and DIALGA.

Zerasure and Cerasure are the codes and schedules of these names in packet layout (packets.py). Cerasure takes
the fewest equal sub-stripes whose sources and parities together are at most 32 streams, and the faster one of
its schedule and Zerasure's. Zerasure does not decompose, and the paper has no results of it for wide stripes.
ISA-L-D takes sub-stripes as Cerasure (the paper has "the same size", without a number). DIALGA follows the
paper's rules. Up to 12 threads, and as long as equation (1) holds for a distance of k, it uses rows with
256-byte iterations and two distances, k + 4 and k at first (one distance, and rows of a line, if a shard is
not longer than an iteration). Otherwise it uses 256-byte blocks in shuffled order. Hill climbing finds the
distances, within equation (1).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

from gfsmith.kernel.tuning_parameters import shuffled
from research.memory import packets
from research.memory.hill_climbing import climb
from research.memory.machine import LINE, Counts, Machine, Work, machine, parameters, run
from research.memory.traversals import Kernel, Walk, call, decomposed, isal_cost

STREAMS = 32
THREADS = 12
FIRST_EXTRA = 4
LINES = 4
FURTHEST = 512  #: lines; a longer distance is useless


@dataclass(frozen=True, slots=True)
class Setting:
    """Device and prefetcher, named as in model.toml, and the encoded stripes."""

    k: int
    m: int = 4
    length: int = 1024
    threads: int = 1
    device: str = "optane-100"
    prefetcher: str = "stream32"

    @property
    def machine(self) -> Machine:
        return machine(self.device, self.prefetcher)

    @property
    def work(self) -> Work:
        return Work(self.k, self.m, self.length, self.threads)


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
    return run(s.machine, call(s.k, s.m, s.length, kernel, isal_cost(s.m)), s.work)


@functools.cache
def isal(s: Setting) -> Counts:
    return with_kernel(s, Kernel())


@functools.cache
def isal_d(s: Setting) -> Counts:
    part = STREAMS - s.m
    return run(s.machine, decomposed(s.k, s.m, s.length, part, isal_cost(s.m)), s.work)


@functools.cache
def zerasure(s: Setting) -> Counts:
    return run(s.machine, packets.call("zerasure", "matched", s.k, s.m, s.length), s.work)


@functools.cache
def cerasure(s: Setting) -> Counts:
    """Return the counts of the faster of the two schedules, as the paper reports Cerasure's best speed."""
    calls = (
        packets.call("cerasure", how, s.k, s.m, s.length, STREAMS - s.m) for how in ("derived", "matched")
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
    if s.length <= LINES * LINE:
        return _climbed(s, Kernel(distance=s.k))
    return _climbed(s, Kernel(Walk.ROWS, LINES, (), s.k, s.k + FIRST_EXTRA))


@functools.cache
def dialga(s: Setting) -> Counts:
    return with_kernel(s, dialga_kernel(s))


@functools.cache
def rows_only(s: Setting) -> Counts:
    """Return the counts of DIALGA's rows with one distance, without buffer-friendly prefetching (figure
    18)."""
    return with_kernel(s, _climbed(s, Kernel(distance=s.k)))
