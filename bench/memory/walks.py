"""The order in which kernels visit lines of 64 bytes, and prefetch them: ISA-L's, DIALGA's, the library's steps.

A call takes k sources and m outputs of `length` bytes. A *task* is one line of one source; a turn of the main loop
takes L lines of every source, in one of two walks: ROWS (one line of every source, then the next line) or
TOGETHER (the L lines of one source, then the next source), the lines in order or in a static other order.
A pipelined kernel prefetches, when it visits a task, the one `distance` tasks later; pointers() has the rule.
Streams of gfsmith's own kernels are derived from their Programs (streams.py); the kernels here are ISA-L's, by
its source, and DIALGA's, by the paper's description.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from bench.memory.machine import (
    EVENT,
    LINE,
    LOAD,
    PREFETCH,
    PREFETCH_SECOND,
    STORE,
    STREAM,
    Events,
)

Ints = np.ndarray[Any, np.dtype[np.int64]]
DEVICE_LINES = 4  #: lines of 64 bytes in one of 256


class Walk(Enum):
    ROWS = "rows"
    TOGETHER = "together"


def zigzag(lines: int) -> tuple[int, ...]:
    """From the middle out, upwards first: 3 4 2 5 1 6 0 7."""
    middle = (lines - 1) // 2
    steps = [middle + (n + 1) // 2 * (1 if n % 2 else -1) for n in range(lines)]
    return tuple(steps) if lines > 2 else tuple(reversed(range(lines)))


def mirrored(lines: int) -> tuple[int, ...]:
    """From the middle out, downwards first: 4 3 5 2 6 1 7 0. It goes on upwards from its last line to the first one
    of the next turn, so that no two steps in a row have the same direction, over the turns' ends too."""
    return tuple(lines - 1 - line for line in zigzag(lines)) if lines > 2 else zigzag(lines)


@dataclass(frozen=True, slots=True)
class Cost:
    """Instructions and cycles of one line of a source, and of the end of a row or turn."""

    instructions: float
    cycles: float
    waiting: int
    end: int = 8
    prefetch: int = 2  #: instructions of one software prefetch


def isal_cost(m: int) -> Cost:
    """gf_4vect_dot_prod_avx512.asm and its neighbours: 8 instructions a source and 7 an output, of which 4 are
    shuffles of 64 bytes, one a cycle."""
    return Cost(8 + 7 * m, 4 * m, 3 + 4 * m, 4 + 2 * m)


@dataclass(frozen=True, slots=True)
class Kernel:
    """How a call goes over its lines. distance 0: no software prefetch; first: distance of the first line of each
    device line, 0 for no other than `distance`; steps: prefetch as apply.c does, in steps of so many bytes."""

    walk: Walk = Walk.ROWS
    lines: int = 1
    order: tuple[int, ...] = ()
    distance: int = 0
    first: int = 0
    nt: bool = True


def visits(k: int, kernel: Kernel) -> tuple[Ints, Ints]:
    """Source and line of the tasks of one turn, in visiting order."""
    order = np.array(kernel.order or range(kernel.lines), np.int64)
    sources = np.arange(k, dtype=np.int64)
    if kernel.walk is Walk.ROWS:
        return np.tile(sources, len(order)), np.repeat(order, k)
    return np.repeat(sources, len(order)), np.tile(order, k)


def pointers(k: int, kernel: Kernel) -> tuple[Ints, Ints]:
    """What the n-th visit of a turn prefetches: source, and offset from the turn's start.

    One distance: the task that many later. Two: every task is wanted its own distance earlier, `first` for the
    first line of a device line; of the tasks of a turn, which recur with every turn, the visits take the ones
    that are wanted, in the order in which they are.
    """
    source, line = visits(k, kernel)
    turn = len(source)
    number = np.arange(turn, dtype=np.int64)
    ahead = np.full(turn, kernel.distance, np.int64)
    if kernel.first:
        ahead[line % DEVICE_LINES == 0] = kernel.first
    wanted = number - ahead  # the visit at which task `number` of this turn is to be asked for
    rank = np.argsort(wanted % turn, kind="stable")
    task = number[rank]
    turns = -(wanted[rank] // turn)  # how many turns later the task is done
    return source[task], turns * kernel.lines * LINE + line[task] * LINE


def _events(kind: int, shard: Ints, offset: Ints, instructions: float = 0, cycles: float = 0, waiting: int = 0) -> Events:
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


def _turn(k: int, m: int, kernel: Kernel, cost: Cost, prefetching: bool) -> Events:
    """One turn at offset 0: loads, each after its prefetch, and the stores after what they are sums of."""
    source, line = visits(k, kernel)
    loads = _events(LOAD, source, line * LINE, cost.instructions, cost.cycles, cost.waiting)
    if prefetching:
        asked = _events(PREFETCH, *pointers(k, kernel), cost.prefetch, 0.5)
        loads = _interleaved(asked, loads)
    if kernel.walk is Walk.TOGETHER:
        every = [LINE * n for n in kernel.order or range(kernel.lines)]
        return np.concatenate([loads, _stores(k, m, every, kernel, cost)])
    rows = np.split(loads, kernel.lines)
    offsets = [LINE * n for n in kernel.order or range(kernel.lines)]
    ends = [_stores(k, m, [offset], kernel, cost) for offset in offsets]
    return np.concatenate([part for pair in zip(rows, ends, strict=True) for part in pair])


def _repeated(turn: Events, starts: Ints) -> Events:
    found = np.tile(turn, len(starts))
    found["offset"] += np.repeat(starts, len(turn)).astype(np.uint32)
    return found


def call(k: int, m: int, length: int, kernel: Kernel, cost: Cost) -> Events:
    """One call: turns that prefetch, then turns and single rows that do not and whose lines all have been asked
    for, or are the first ones."""
    block = kernel.lines * LINE
    turns = length // block
    leading = 0
    if kernel.distance:
        reach = int(pointers(k, kernel)[1].max()) // block  # turns ahead
        leading = max(turns - reach, 0)
    starts = np.arange(turns, dtype=np.int64) * block
    parts = []
    if leading:
        parts.append(_repeated(_turn(k, m, kernel, cost, True), starts[:leading]))
    if leading < turns:
        parts.append(_repeated(_turn(k, m, kernel, cost, False), starts[leading:]))
    rest = np.arange(turns * block, length, LINE, dtype=np.int64)
    if len(rest):
        row = Kernel(nt=kernel.nt)
        parts.append(_repeated(_turn(k, m, row, cost, False), rest))
    return np.concatenate(parts)


def decomposed(k: int, m: int, length: int, part: int, cost: Cost) -> Events:
    """ISA-L-D: sub-stripes of at most `part` sources, the parities of all but the first added to those before: m
    more reads and writes a row and sub-stripe."""
    parts = []
    count = -(-k // part)
    bounds = [k * n // count for n in range(count + 1)]
    for first, end in zip(bounds, bounds[1:], strict=False):
        shard = np.arange(first, end)
        row = [_events(LOAD, shard, 0 * shard, cost.instructions, cost.cycles, cost.waiting)]
        if first:
            outputs = np.arange(k, k + m)
            row.insert(0, _events(LOAD, outputs, 0 * outputs, 2, 1))
        row.append(_stores(k, m, [0], Kernel(), cost))
        parts.append(_repeated(np.concatenate(row), np.arange(0, length, LINE, dtype=np.int64)))
    return np.concatenate(parts)


def fetch(k: int, start: int, length: int) -> Events:
    """What apply.c asks for, source by source, into the second level."""
    lines = np.arange(start, start + length, LINE, dtype=np.int64)
    return _events(PREFETCH_SECOND, np.repeat(np.arange(k), len(lines)), np.tile(lines, k), 2, 0.5)
