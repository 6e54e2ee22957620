"""Prefetches of the addresses that follow the shards in src[]."""

from __future__ import annotations

from dataclasses import replace

from gfsmith.ir import Instr, Loop, Op, Program, Ref, Role, Space
from gfsmith.kernel.spec import KernelSpec
from gfsmith.kernel.tuning_parameters import LINE


def prefetch_pointers(program: Program, spec: KernelSpec) -> Program:
    """Before the body of a main loop, prefetch the addresses of the pointers that follow those of the shards,
    one pointer for each line whose beginning the body reads."""
    if not spec.pipelined:
        return program

    def ask(loop: Loop) -> Loop:
        if loop.role is not Role.BLOCK or loop.step != spec.block:
            return loop
        begun = [i for i in loop.body if i.op is Op.LOAD and i.ref and i.ref.offset % LINE == 0]
        asked = (Instr(Op.PREFETCH, None, (), Ref(Space.AHEAD, n, 0)) for n in range(len(begun)))
        return replace(loop, body=(*asked, *loop.body))

    return replace(program, loops=tuple(map(ask, program.loops)))
