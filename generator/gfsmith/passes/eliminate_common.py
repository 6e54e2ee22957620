"""Common subexpressions."""

from __future__ import annotations

from dataclasses import replace

from gfsmith.ir import STORES, Instr, Loop, Op, Program, Space, Value
from gfsmith.kernel.spec import KernelSpec
from gfsmith.passes.sections import Section, map_sections

_NEAR = 10  #: instructions between two uses of a constant that share one load


def eliminate_common(program: Program, spec: KernelSpec) -> Program:
    """Compute equal expressions once, but not across a store unless the matrix is known: otherwise the next
    copy of the loop's body would find the registers full of tables. Loading a constant again is cheap, and
    keeping it in a register is expensive, so only uses that are close to each other share a constant."""
    renamed: dict[Value, Value] = {}

    def rewrite(code: Section, loop: Loop) -> Section:
        known: dict[tuple[object, ...], Value] = {}
        recent: dict[tuple[object, ...], int] = {}
        kept: list[Instr] = []
        for position, instr in enumerate(code):
            args = tuple(renamed.get(a, a) for a in instr.args)
            instr = replace(instr, args=args)
            key = (instr.op, args, instr.ref, instr.immediate)
            if instr.op in STORES and spec.baked is None:
                known.clear()
            if instr.ref is not None and instr.ref.space is Space.CONSTANT:
                if position - recent.get(key, -_NEAR) >= _NEAR:
                    known.pop(key, None)
                recent[key] = position
            if instr.result is None or instr.op is Op.ZERO:
                kept.append(instr)  # each ZERO starts its own accumulator
            elif key in known:
                renamed[instr.result] = known[key]
            else:
                known[key] = instr.result
                kept.append(instr)
        return tuple(kept)

    result = map_sections(program, rewrite)
    loops = tuple(
        replace(loop, carries=tuple(c.map(lambda v: renamed.get(v, v)) for c in loop.carries))
        for loop in result.loops
    )
    return replace(result, loops=loops)
