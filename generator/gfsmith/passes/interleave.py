"""Interleaving of the unrolled copies of a loop."""

from __future__ import annotations

from collections.abc import Iterator

from gfsmith.ir import STORES, Instr, Loop, Op, Program
from gfsmith.ir.liveness import pressure
from gfsmith.kernel.spec import KernelSpec, Order
from gfsmith.passes.sections import Section, map_sections


def _units(code: list[Instr], order: Order) -> Iterator[list[Instr]]:
    """Split one unrolled copy after each accumulation and store, so that few temporaries live; or after
    each instruction."""
    unit: list[Instr] = []
    for instr in code:
        unit.append(instr)
        if order is Order.STEPS or instr.op is Op.XOR or instr.op in STORES:
            yield unit
            unit = []
    if unit:
        yield unit


def interleave(program: Program, spec: KernelSpec) -> Program:
    """Alternate between the unrolled copies, so that independent chains of operations overlap and a table
    that the copies share is loaded once and used at once. Leave the copies one after the other if there are
    too few registers, or if the spec requests it."""
    if spec.order is Order.COPIES:
        return program

    def rewrite(code: Section, loop: Loop) -> Section:
        copies = sorted({i.copy for i in code})
        streams = [list(_units([i for i in code if i.copy == c], spec.order)) for c in copies]
        merged: list[Instr] = []
        for turn in range(max((len(s) for s in streams), default=0)):
            for stream in streams:
                if turn < len(stream):
                    merged.extend(stream[turn])
        return tuple(merged)

    alternating = map_sections(program, rewrite)
    refused = spec.isa.registers is not None and pressure(alternating) > spec.isa.registers
    if refused and spec.order is Order.SUMS:
        return program
    return alternating
