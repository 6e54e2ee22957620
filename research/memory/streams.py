"""The addresses that a kernel touches, in order, from its Program.

    accesses(program, k, length)         loads, stores and prefetches of one call
    events(accesses, k, asked, vector)   the same for the simulation

The module executes a Program's loops as ir/program.py defines them. Instructions between two accesses count
for the second: one for each instruction of the Program, and three for each iteration over sources (fetch a
pointer, count, branch). Cycles are those of the two ports that 512-bit instructions have; a lookup can use
only one of them. Tables and pointer arrays are in the first-level cache and are left out. Destinations are
assumed to be aligned, as streaming stores require.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gfsmith.ir import CURRENT, Instr, Loop, Op, Program, Role, Space
from research.memory import machine
from research.memory.machine import EVENT, LINE, Events

#: kind: the simulation's. shard: sources, then destinations; for a prefetch through a pointer, the pointer.
#: offset: from the shard's start; for a prefetch through a pointer, the iteration's position.
ACCESS = np.dtype(
    [
        ("kind", "u1"),
        ("ahead", "?"),
        ("shard", "<u2"),
        ("offset", "<i8"),
        ("size", "<u2"),
        ("instructions", "<u2"),
        ("waiting", "u1"),
        ("cycles16", "<u2"),
    ]
)
Accesses = np.ndarray[Any, np.dtype[np.void]]

_KIND = {
    Op.LOAD: machine.LOAD,
    Op.STORE: machine.STORE,
    Op.STREAM: machine.STREAM,
    Op.PREFETCH: machine.PREFETCH,
}
_SHARDS = frozenset({Space.SOURCE, Space.DESTINATION, Space.AHEAD})
_LOOKUPS = frozenset({Op.LOOKUP, Op.LOOKUP_LOW, Op.LOOKUP2})
_FREE = frozenset(
    {Op.LOAD, Op.STORE, Op.STREAM, Op.PREFETCH, Op.TABLE, Op.MATRIX, Op.COLUMN, Op.CONST, Op.ZERO}
)
_ITERATION = 3  #: instructions of one iteration over sources in addition to the Program's


@dataclass(slots=True)
class _Iteration:
    """One iteration of the main loop over bytes, at position 0, during its execution."""

    k: int
    lanes: int
    size: int
    rows: list[tuple[int, bool, int, int, int, int, int, int]]
    instructions: int = 0
    waiting: int = 0
    lookups: int = 0
    vectors: int = 0
    pointer: int = 0

    def section(self, code: Sequence[Instr], source: int, extra: int) -> None:
        base = self.pointer
        self.instructions += extra
        for instr in code:
            self.instructions += 1
            if instr.op not in _FREE:
                self.waiting += 1
                self.vectors += 1
                self.lookups += instr.op in _LOOKUPS
            if instr.ref is not None and instr.ref.space in _SHARDS:
                self._access(instr, source, base)

    def _access(self, instr: Instr, source: int, base: int) -> None:
        ref = instr.ref
        assert ref is not None
        ahead = ref.space is Space.AHEAD
        if ahead:
            shard, self.pointer = base + ref.index, self.pointer + 1
        elif ref.space is Space.DESTINATION:
            shard = self.k + ref.index
        else:
            shard = ref.index if ref.index > CURRENT else source + CURRENT - ref.index
        kind = _KIND.get(instr.op, machine.LOAD)  # an addition may read its operand from memory
        self.rows.append((kind, ahead, shard, ref.offset, self.size, *self._spent()))

    def _spent(self) -> tuple[int, int, int]:
        """Return instructions, waiting instructions, and sixteenths of cycles since the last access."""
        cycles = max(self.lookups, self.vectors / 2, self.instructions / 4)
        spent = self.instructions, min(self.waiting, 255), round(16 * cycles)
        self.instructions = self.waiting = self.lookups = self.vectors = 0
        return spent

    def loop(self, loop: Loop) -> None:
        self.section(loop.head, 0, 0)
        if loop.rolled:
            whole = self.k - self.k % loop.group
            for source in range(0, whole, loop.group):
                self.section(loop.body, source, _ITERATION)
            for source in range(whole, self.k):
                self.section(loop.rest, source, _ITERATION)
        self.section(loop.close, 0, 2)


def _iteration(iteration: Sequence[Loop], k: int, lanes: int, size: int) -> Accesses:
    run = _Iteration(k, lanes, size, [])
    for loop in iteration:
        run.loop(loop)
    return np.array(run.rows, ACCESS)


def _parts(program: Program, k: int, length: int) -> Iterator[Accesses]:
    position = 0
    for iteration in program.iterations():
        step, left = iteration[0].step, length - position
        if iteration[0].role is Role.TAIL:
            if left:
                part = _iteration(iteration, k, program.lanes, left)
                part["offset"] += position
                yield part
        elif left >= step:
            one = _iteration(iteration, k, program.lanes, program.lanes)
            starts = position + step * np.arange(left // step)
            part = np.tile(one, len(starts))
            moved = np.repeat(starts, len(one))
            part["offset"] += moved
            yield part
            position += step * len(starts)


def accesses(program: Program, k: int, length: int) -> Accesses:
    """Return the loads, stores and prefetches of one call with k sources of `length` bytes, in this order."""
    parts = list(_parts(program, k, length))
    return np.concatenate(parts) if parts else np.empty(0, ACCESS)


def events(found: Accesses, pointers: tuple[Any, Any] | None = None) -> Events:
    """Return the events for the simulation. pointers: source and offset of each prefetch pointer of a
    pipelined kernel.

    If a line is written around the cache in pieces, it leaves the core with the last piece.
    """
    result = np.zeros(len(found), EVENT)
    for name in ("kind", "shard", "instructions", "waiting", "cycles16"):
        result[name] = found[name]
    offset = found["offset"].copy()
    if pointers is not None:
        ahead = found["ahead"]
        result["shard"][ahead] = pointers[0][found["shard"][ahead]]
        offset[ahead] += pointers[1][found["shard"][ahead]]
    result["offset"] = offset
    unfinished = (found["kind"] == machine.STREAM) & ((offset + found["size"]) % LINE != 0)
    result["kind"][unfinished] = machine.WORK
    return result
