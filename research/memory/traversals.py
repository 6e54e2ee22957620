"""Orders in which kernels visit lines of 64 bytes and prefetch them: ISA-L's, DIALGA's, and the library's
steps.

A call takes k sources and m outputs of `length` bytes. A *task* is one line of one source. An iteration of
the main loop takes L lines of every source, in one of two walks: ROWS (one line of every source, then the
next line) or TOGETHER (the L lines of one source, then the next source), with the lines in order or in
another static order. When a pipelined kernel visits a task, it prefetches the task that is `distance` later;
plan() has the rule. Streams of gfsmith's own kernels come from their Programs (streams.py). This module has
ISA-L's kernels, according to its source, and DIALGA's, according to the paper's description.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise
from typing import Any

import numpy as np

from research.memory.machine import (
    EVENT,
    LINE,
    LOAD,
    PREFETCH,
    PREFETCH_SECOND,
    STORE,
    STREAM,
    WORK,
    Events,
)

Ints = np.ndarray[Any, np.dtype[np.int64]]
DEVICE_LINES = 4  #: lines of 64 bytes in a device line of 256
DEVICE_LINE = DEVICE_LINES * LINE


class Walk(Enum):
    ROWS = "rows"
    TOGETHER = "together"


@dataclass(frozen=True, slots=True)
class Cost:
    """Instructions and cycles of one vector of a source, and of the end of a row or iteration.

    A vector is a line or, in rows only, a part of it: then a row takes several passes over the sources."""

    instructions: float
    cycles: float
    waiting: int
    end: int = 8
    prefetch: int = 2  #: instructions of one software prefetch
    vector: int = LINE  #: bytes


def isal_cost(m: int, vector: int = LINE) -> Cost:
    """Return the cost of gf_4vect_dot_prod_avx512.asm and its like: 8 instructions per source and 7 per
    output, of which 4 are shuffles of 64 bytes, one per cycle. gf_4vect_dot_prod_avx2.asm takes 8 and 6 for
    32 bytes, 2 of them shuffles."""
    if vector < LINE:
        return Cost(8 + 6 * m, 2 * m, 3 + 4 * m, 4 + 2 * m, vector=vector)
    return Cost(8 + 7 * m, 4 * m, 3 + 4 * m, 4 + 2 * m)


@dataclass(frozen=True, slots=True)
class Kernel:
    """The walk of a call over its lines. distance 0: no software prefetch; first: distance of the first line
    of each device line, 0: the same as `distance`. With two distances, the prefetches repeat after a device
    line, also if an iteration takes a line (call())."""

    walk: Walk = Walk.ROWS
    lines: int = 1
    order: tuple[int, ...] = ()
    distance: int = 0
    first: int = 0
    nt: bool = True


def visits(k: int, kernel: Kernel) -> tuple[Ints, Ints]:
    """Return source and line of the tasks of one iteration, in visiting order."""
    order = np.array(kernel.order or range(kernel.lines), np.int64)
    sources = np.arange(k, dtype=np.int64)
    if kernel.walk is Walk.ROWS:
        return np.tile(sources, len(order)), np.repeat(order, k)
    return np.repeat(sources, len(order)), np.tile(order, k)


@dataclass(frozen=True, slots=True)
class Plan:
    """The prefetches of a call, in the form of the coordinator's order.c: source and offset of every line, in
    the order of the prefetches.

    `lead` lines are prefetched before the loop, one more at every visit of the first `piped` bytes, and the
    rest after these. With one distance, the order is that of the visits. With two, the number of a line is
    its own visit less its own distance, and the lines are prefetched in the order of these numbers.
    """

    source: Ints
    offset: Ints
    lead: int
    piped: int
    visits: int

    def pointers(self) -> tuple[Ints, Ints]:
        """Return the prefetches of an iteration's visits, relative to the iteration's position."""
        at = slice(self.lead, self.lead + self.visits)
        return self.source[at], self.offset[at]


def plan(k: int, length: int, kernel: Kernel) -> Plan:
    source, line = visits(k, kernel)
    turn, block = len(source), kernel.lines * LINE
    ahead = np.full(turn, kernel.distance, np.int64)
    two = kernel.first > 0 and kernel.lines % DEVICE_LINES == 0
    if two:
        ahead[line % DEVICE_LINES == 0] = kernel.first
    lead = _mean(kernel) if two else kernel.distance
    turns = -(-length // block) + 1 + -(-max(lead, kernel.first, kernel.distance) // turn)
    number = np.arange(turns * turn, dtype=np.int64)
    order = np.lexsort((np.tile(line % DEVICE_LINES != 0, turns), number - np.tile(ahead, turns)))
    far = number[order][lead : lead + turn].max() // turn
    piped = max(length // block - int(far), 0) * block
    offset = (np.tile(line, turns) * LINE + number // turn * block)[order]
    return Plan(np.tile(source, turns)[order], offset, lead, piped, turn)


def _mean(kernel: Kernel) -> int:
    """Return the average of the two distances over all lines, in visits."""
    others = DEVICE_LINES - 1
    return (kernel.first + others * kernel.distance + DEVICE_LINES // 2) // DEVICE_LINES


def _events(
    kind: int, shard: Ints, offset: Ints, instructions: float = 0, cycles: float = 0, waiting: int = 0
) -> Events:
    found = np.zeros(len(shard), EVENT)
    found["kind"], found["shard"], found["offset"] = kind, shard, offset
    found["instructions"], found["cycles16"] = round(instructions), round(16 * cycles)
    found["waiting"] = waiting
    return found


def _interleaved(before: Events, after: Events) -> Events:
    both = np.empty(len(before) + len(after), EVENT)
    both[0::2], both[1::2] = before, after
    return both


def _stores(k: int, m: int, offsets: Sequence[int], kernel: Kernel, cost: Cost) -> Events:
    kind = STREAM if kernel.nt else STORE
    shard = np.repeat(np.arange(k, k + m), len(offsets))
    return _events(kind, shard, np.tile(np.array(offsets, np.int64), m), cost.end / m / len(offsets), 1)


def _turn(k: int, m: int, kernel: Kernel, cost: Cost, pointers: tuple[Ints, Ints] | None = None) -> Events:
    """Return one iteration at offset 0: loads, each after its prefetch, and the stores after the loads they
    depend on."""
    source, line = visits(k, kernel)
    loads = _events(LOAD, source, line * LINE, cost.instructions, cost.cycles, cost.waiting)
    if pointers is not None:
        asked = _events(PREFETCH, *pointers, cost.prefetch, 0.5)
        loads = _interleaved(asked, loads)
    if kernel.walk is Walk.TOGETHER:
        every = [LINE * n for n in kernel.order or range(kernel.lines)]
        return np.concatenate([loads, _stores(k, m, every, kernel, cost)])
    offsets = [LINE * n for n in kernel.order or range(kernel.lines)]
    ends = [_stores(k, m, [offset], kernel, cost) for offset in offsets]
    rows = zip(np.split(loads, kernel.lines), ends, strict=True)
    return np.concatenate([_row(*row, cost) for row in rows])


def _row(loads: Events, ends: Events, cost: Cost) -> Events:
    """Return one row: passes over the sources, vector by vector. The first pass has the prefetches, and lines
    are written with the last one."""
    parts = [loads, ends]
    for start in range(cost.vector, LINE, cost.vector):
        again, before = loads[loads["kind"] == LOAD], ends.copy()
        again["offset"] += start
        before["kind"] = WORK
        parts[-1:] = [before, again, ends]
    return np.concatenate(parts)


def _repeated(turn: Events, starts: Ints) -> Events:
    found = np.tile(turn, len(starts))
    found["offset"] += np.repeat(starts, len(turn)).astype(np.uint32)
    return found


def _two_distances(k: int, m: int, length: int, kernel: Kernel, cost: Cost) -> list[Events]:
    """Return rows of a line with the prefetches of two distances, up to the first row that would prefetch
    beyond the call."""
    source, offset = plan(k, length, replace(kernel, lines=DEVICE_LINES)).pointers()
    found = []
    for start in range(0, length, LINE):
        at = slice(start // LINE % DEVICE_LINES * k, (start // LINE % DEVICE_LINES + 1) * k)
        ahead = offset[at] + start // DEVICE_LINE * DEVICE_LINE
        if ahead.max() >= length:
            break
        row = _turn(k, m, Kernel(nt=kernel.nt), cost, (source[at], ahead - start))
        found.append(_repeated(row, np.array([start])))
    return found


def call(k: int, m: int, length: int, kernel: Kernel, cost: Cost) -> Events:
    """Return one call of DIALGA or, without a distance, of ISA-L: iterations with prefetches, then the plain
    kernel for the rest."""
    block = kernel.lines * LINE
    piped, parts = 0, []
    if kernel.first and kernel.lines == 1:
        parts = _two_distances(k, m, length, kernel, cost)
        piped = len(parts) * LINE
    elif kernel.distance:
        asked = plan(k, length, kernel)
        piped = asked.piped
        starts = np.arange(0, piped, block, dtype=np.int64)
        parts.append(_repeated(_turn(k, m, kernel, cost, asked.pointers()), starts))
    starts = np.arange(piped, length // block * block, block, dtype=np.int64)
    parts.append(_repeated(_turn(k, m, kernel, cost), starts))
    rest = np.arange(length // block * block, length, LINE, dtype=np.int64)
    parts.append(_repeated(_turn(k, m, Kernel(nt=kernel.nt), cost), rest))
    return np.concatenate(parts)


def decomposed(k: int, m: int, length: int, part: int, cost: Cost) -> Events:
    """Return one call of ISA-L-D: sub-stripes of at most `part` sources, and the parities of all but the
    first are added to the earlier ones, which takes m more reads and writes per row and sub-stripe."""
    parts = []
    count = -(-k // part)
    bounds = [k * n // count for n in range(count + 1)]
    for first, end in pairwise(bounds):
        shard = np.arange(first, end)
        row = [_events(LOAD, shard, 0 * shard, cost.instructions, cost.cycles, cost.waiting)]
        if first:
            outputs = np.arange(k, k + m)
            row.insert(0, _events(LOAD, outputs, 0 * outputs, 2, 1))
        row.append(_stores(k, m, [0], Kernel(), cost))
        parts.append(_repeated(np.concatenate(row), np.arange(0, length, LINE, dtype=np.int64)))
    return np.concatenate(parts)


def asking(source: Ints, offset: Ints, second: bool) -> Events:
    """Return prefetches by a loop in C, into the second level or the first."""
    kind = PREFETCH_SECOND if second else PREFETCH
    return _events(kind, source, offset, 3, 1)


def fetched(k: int, start: int, length: int) -> Events:
    """Return the prefetches of apply.c for one step: source by source, into the second level."""
    lines = np.arange(start, start + length, LINE, dtype=np.int64)
    return asking(np.repeat(np.arange(k), len(lines)), np.tile(lines, k), True)
