"""Prefetches at a fixed distance."""

from __future__ import annotations

from dataclasses import replace

from gfsmith.ir import Instr, Loop, Op, Program, Role
from gfsmith.kernel.spec import KernelSpec, Operation, Store
from gfsmith.kernel.tuning_parameters import LINE


def prefetch(program: Program, spec: KernelSpec) -> Program:
    """Prefetch each cache line of the shards `prefetch` bytes before its load or store, without a branch:
    a prefetch beyond a shard's end has no effect. Destinations with stores around the cache get no
    prefetch."""
    if not spec.prefetch:
        return program
    loaded = spec.operation is Operation.MAD  # mad loads its destinations, and prefetches them there
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
