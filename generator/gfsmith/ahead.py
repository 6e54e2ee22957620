"""Passes that ask for what will be loaded: a fixed distance ahead, or what pointers say."""

from __future__ import annotations

from dataclasses import replace

from gfsmith.ir import Instr, Loop, Op, Program, Ref, Role, Space
from gfsmith.schedule import LINE
from gfsmith.spec import KernelSpec, Operation, Store


def insert_prefetch(program: Program, spec: KernelSpec) -> Program:
    """Ask for each cache line of the shards `prefetch` bytes ahead of its load or store, without a branch:
    beyond a shard's end it does nothing. Destinations that are written around the cache are left alone."""
    if not spec.prefetch:
        return program
    loaded = spec.operation is Operation.MAD  # mad asks for its destinations when it loads them
    asking = {Op.LOAD} if loaded or spec.store is Store.STREAMING else {Op.LOAD, Op.STORE}

    def rewrite(code: tuple[Instr, ...]) -> tuple[Instr, ...]:
        out: list[Instr] = []
        for instr in code:
            ref = instr.ref
            if instr.op in asking and ref is not None and ref.offset % LINE == 0:
                ahead = replace(ref, offset=ref.offset + spec.prefetch)
                out.append(Instr(Op.PREFETCH, None, (), ahead, 0, instr.copy))
            out.append(instr)
        return tuple(out)

    def each(loop: Loop) -> Loop:
        if loop.role is not Role.BLOCK:
            return loop
        head, body, rest, close = map(rewrite, loop.sections())
        return replace(loop, head=head, body=body, rest=rest, close=close)

    return replace(program, loops=tuple(map(each, program.loops)))


def insert_pipelined(program: Program, spec: KernelSpec) -> Program:
    """Before a turn of a main loop's body, ask for what the pointers behind those of the shards say: one for
    each line of which the body takes the beginning."""
    if not spec.pipelined:
        return program

    def ask(loop: Loop) -> Loop:
        if loop.role is not Role.BLOCK or loop.step != spec.block:
            return loop
        begun = [i for i in loop.body if i.op is Op.LOAD and i.ref and i.ref.offset % LINE == 0]
        asked = (Instr(Op.PREFETCH, None, (), Ref(Space.AHEAD, n, 0)) for n in range(len(begun)))
        return replace(loop, body=(*asked, *loop.body))

    return replace(program, loops=tuple(map(ask, program.loops)))
