"""Table entries in registers, loaded before the loops."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from gfsmith.ir import CURRENT, Instr, Loop, Op, Program, Ref, Value
from gfsmith.ir.liveness import pressure, uses
from gfsmith.kernel.spec import KernelSpec, Placement
from gfsmith.passes.sections import Section, map_sections

#: Registers that stay free for a C compiler, which reorders the Program, where vectors are scalable and a
#: spill is expensive (bench/results/predicted.md).
_SLACK = 3


def hoist_tables(program: Program, spec: KernelSpec) -> Program:
    """Keep as many table entries as possible in the free registers for the whole call."""
    if spec.isa.registers is None or spec.placement is Placement.MEMORY:
        return program
    spare = spec.isa.registers - pressure(program) - (1 if spec.isa.destructive else 0)
    spare -= _SLACK if spec.isa.scalable else 0
    candidates: dict[tuple[Op, Ref], Value] = {}
    reads: Counter[tuple[Op, Ref]] = Counter()
    count = uses(program)
    for loop in program.loops:
        for instr in loop.head:
            if _is_fixed_table(instr) and instr.ref is not None and instr.result is not None:
                candidates.setdefault((instr.op, instr.ref), instr.result)
                reads[instr.op, instr.ref] += count[instr.result]
    wanted = sorted(candidates.items(), key=lambda item: -reads[item[0]])
    chosen = dict(wanted[: max(spare, 0)])
    renamed: dict[Value, Value] = {}

    def rewrite(code: Section, loop: Loop) -> Section:
        kept: list[Instr] = []
        for instr in code:
            instr = replace(instr, args=tuple(renamed.get(a, a) for a in instr.args))
            key = (instr.op, instr.ref)
            if _is_fixed_table(instr) and instr.result is not None and key in chosen:
                renamed[instr.result] = chosen[key]
            else:
                kept.append(instr)
        return tuple(kept)

    result = map_sections(program, rewrite)
    hoisted = tuple(Instr(op, value, (), ref) for (op, ref), value in chosen.items())
    return replace(result, preload=program.preload + hoisted)


def _is_fixed_table(instr: Instr) -> bool:
    return instr.op in (Op.TABLE, Op.MATRIX) and instr.ref is not None and instr.ref.index > CURRENT
