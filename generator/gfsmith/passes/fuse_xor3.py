"""Additions of three operands."""

from __future__ import annotations

from dataclasses import replace

from gfsmith.ir import Instr, Loop, Op, Program, Value
from gfsmith.ir.liveness import uses
from gfsmith.kernel.spec import KernelSpec
from gfsmith.passes.sections import Section, map_sections


def fuse_xor3(program: Program, spec: KernelSpec) -> Program:
    """Replace (a ^ b) ^ c by one three-input operation if the instruction set has it."""
    if Op.XOR3 not in spec.isa.ops:
        return program
    count = uses(program)

    def rewrite(code: Section, loop: Loop) -> Section:
        pairs: dict[Value, Instr] = {}
        kept: list[Instr] = []
        for instr in code:
            result = instr.result
            if instr.op is Op.XOR and result is not None:
                inner = next((a for a in instr.args if a in pairs and count[a] == 1), None)
                if inner is not None:
                    other = instr.args[1] if inner == instr.args[0] else instr.args[0]
                    first = pairs.pop(inner)
                    kept.remove(first)
                    instr = replace(instr, op=Op.XOR3, args=(*first.args, other))
                else:
                    pairs[result] = instr
            kept.append(instr)
        return tuple(kept)

    return map_sections(program, rewrite)
