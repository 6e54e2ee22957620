"""Loads as memory operands."""

from __future__ import annotations

from dataclasses import replace

from gfsmith.ir import Instr, Loop, Op, Program, Role, Value
from gfsmith.ir.liveness import uses
from gfsmith.kernel.spec import KernelSpec
from gfsmith.passes.sections import Section, map_sections


def fold_loads(program: Program, spec: KernelSpec) -> Program:
    """Turn a load with a single reader into a memory operand of that reader."""
    if not spec.isa.folds_loads:
        return program
    count = uses(program)

    def rewrite(code: Section, loop: Loop) -> Section:
        loaded: dict[Value, Instr] = {}
        kept: dict[int, Instr] = {}  # by position
        places: dict[Value, int] = {}
        for position, instr in enumerate(code):
            if instr.result is not None and count[instr.result] == 1 and _folds(instr, spec, loop):
                loaded[instr.result] = instr
                places[instr.result] = position
            folded = _fold(instr, loaded)
            if folded is not None:
                source, instr = folded
                assert source.result is not None
                del kept[places[source.result]]
            kept[position] = instr
        return tuple(kept.values())

    return map_sections(program, rewrite)


def _folds(instr: Instr, spec: KernelSpec, loop: Loop) -> bool:
    if instr.op is Op.MATRIX:
        return spec.isa.broadcasts
    if instr.op is not Op.LOAD or loop.role is not Role.BLOCK or instr.ref is None:
        return False
    return not spec.in_parts(instr.ref.space)


def _fold(instr: Instr, loaded: dict[Value, Instr]) -> tuple[Instr, Instr] | None:
    """Return the load and the instruction that takes it as its last operand; None if there is none."""
    if instr.ref is not None:
        return None
    positions: range | tuple[int, ...]
    if instr.op in (Op.XOR, Op.XOR3):
        wanted, positions = Op.LOAD, range(len(instr.args) - 1, -1, -1)
    elif instr.op is Op.AFFINE:
        wanted, positions = Op.MATRIX, (1,)
    else:
        return None
    for position in positions:
        source = loaded.get(instr.args[position])
        if source is not None and source.op is wanted:
            args = instr.args[:position] + instr.args[position + 1 :]
            return source, replace(instr, args=args, ref=source.ref)
    return None
