"""Stores around the cache."""

from __future__ import annotations

from dataclasses import replace

from gfsmith.ir import Op, Program, Value
from gfsmith.kernel.spec import KernelSpec, Store
from gfsmith.passes.sections import Section


def stream_stores(program: Program, spec: KernelSpec) -> Program:
    """Add a copy of the main loop before it that stores around the cache, for aligned destinations."""
    if spec.store is not Store.STREAMING:
        return program
    main = program.iterations()[0]
    shift = 1 + max(v for i in program.instructions() for v in (*i.args, i.result or 0))
    local = {i.result for loop in main for section in loop.sections() for i in section}
    local |= {c.phi for loop in main for c in loop.carries}

    def move(value: Value) -> Value:
        return value + shift if value in local else value

    def rewrite(code: Section) -> Section:
        return tuple(
            replace(
                i,
                op=Op.STREAM if i.op is Op.STORE else i.op,
                result=None if i.result is None else move(i.result),
                args=tuple(move(a) for a in i.args),
            )
            for i in code
        )

    streaming = (
        replace(
            loop,
            head=rewrite(loop.head),
            body=rewrite(loop.body),
            rest=rewrite(loop.rest),
            close=rewrite(loop.close),
            carries=tuple(c.map(move) for c in loop.carries),
            aligned=True,
        )
        for loop in main
    )
    return replace(program, loops=(*streaming, *program.loops))
