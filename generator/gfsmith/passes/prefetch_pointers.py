"""Prefetches of the addresses that follow the shards in src[]."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count

from gfsmith.ir import Instr, Loop, Op, Program, Ref, Role, Space
from gfsmith.kernel.spec import KernelSpec
from gfsmith.kernel.tuning_parameters import LINE
from gfsmith.passes.sections import Section


def prefetch_pointers(program: Program, spec: KernelSpec) -> Program:
    """In the main loop, prefetch the addresses of the pointers that follow those of the shards, one pointer
    for each line whose beginning is read first: all at the beginning of a body, or each before such a load in
    a loop that is unrolled over the sources. Further passes over a line's sources prefetch nothing."""
    if not spec.pipelined:
        return program
    numbers = count()  # of the pointers in unrolled loops
    asked: set[int] = set()  # offsets of lines

    def ask(loop: Loop) -> Loop:
        begun = {i.ref.offset for i in (*loop.head, *loop.body) if _begins(i) and i.ref is not None}
        if loop.role is not Role.BLOCK or loop.step != spec.block or begun <= asked:
            return loop
        asked.update(begun)
        if not loop.rolled:
            return replace(loop, head=_unrolled(loop.head, spec, numbers))
        return replace(loop, body=(*map(_prefetch, range(len(begun))), *loop.body))

    return replace(program, loops=tuple(map(ask, program.loops)))


def _begins(instr: Instr) -> bool:
    """Return True for the load of the beginning of a source's line."""
    ref = instr.ref
    return instr.op is Op.LOAD and ref is not None and ref.space is Space.SOURCE and ref.offset % LINE == 0


def _prefetch(number: int) -> Instr:
    return Instr(Op.PREFETCH, None, (), Ref(Space.AHEAD, number, 0))


def _unrolled(code: Section, spec: KernelSpec, numbers: Iterator[int]) -> Section:
    """Return the code with a prefetch before each load that begins a line, and at the end those for sources
    that a known matrix multiplies by 0 and the code does not load."""
    out: list[Instr] = []
    offsets: dict[int, int] = {}
    for instr in code:
        if _begins(instr):
            assert instr.ref is not None
            offsets[instr.ref.offset] = offsets.get(instr.ref.offset, 0) + 1
            out.append(_prefetch(next(numbers)))
        out.append(instr)
    missing = sum((spec.inputs or 1) - loaded for loaded in offsets.values())
    return (*out, *(_prefetch(next(numbers)) for _ in range(missing)))
