"""Removal of index masks for lookups that ignore the masked bits."""

from __future__ import annotations

from dataclasses import replace

from gfsmith.ir import Loop, Op, Program
from gfsmith.ir.liveness import uses
from gfsmith.kernel.spec import KernelSpec
from gfsmith.passes.sections import Section, map_sections


def unmask(program: Program, spec: KernelSpec) -> Program:
    """Replace lookups of masked indices by LOOKUP_LOW, which ignores the upper half of an index, and remove
    the masks that no instruction reads."""
    if Op.LOOKUP_LOW not in spec.isa.ops:
        return program

    def look(code: Section, loop: Loop) -> Section:
        whole = {i.result: i.args[0] for i in code if i.op is Op.AND}
        of = {i: whole[i.args[1]] for i in code if i.op is Op.LOOKUP and i.args[1] in whole}
        return tuple(replace(i, op=Op.LOOKUP_LOW, args=(i.args[0], of[i])) if i in of else i for i in code)

    looked = map_sections(program, look)
    read = uses(looked)
    return map_sections(
        looked, lambda code, loop: tuple(i for i in code if i.op is not Op.AND or read[i.result or 0])
    )
