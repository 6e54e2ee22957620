"""Comparison of unwind tables with the stack at every instruction.

An unwinder that stops at an instruction must find the caller's stack pointer and the caller's values of the
callee-saved registers. The execution of the code yields the `Step`s. This module compares them with the rules
of the table, from .eh_frame (`dwarf.py`) or .pdata/.xdata (`seh.py`).

Two errors are not detected: a rule for a register saved by a mov that begins too early, between the
allocation of the slot and the mov, while the register still has its value; and a wrong slot of a register
that is saved but never changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gfsmith.prove.machine.formats.image import Image
from gfsmith.prove.machine.x86 import dwarf, seh
from gfsmith.prove.machine.x86.frame_rules import Rules, Step, Table, UnsupportedTable

__all__ = ["Step", "check"]

#: Bytes below the stack pointer that stay as they are (System V ABI).
RED_ZONE = 128


def check(image: Image, symbol: str, steps: Sequence[Step]) -> list[str]:
    """Return the contradictions between the unwind table of a function and the observed steps.

    Args:
        image: where the function and its tables are.
        symbol: the function.
        steps: the observed steps; every step is checked.

    Returns:
        One line for every kind of contradiction, with the first offset where it shows; empty if there is
        none. A table that is not understood is a line that begins with "unsupported".

    Raises:
        KeyError: the image has no such function.
    """
    if image.format == "raw":
        return []
    find = seh.find if image.format == "coff" else dwarf.find
    try:
        table = find(image, image.functions[symbol])
        if table is None:
            framed = any(step.depth or step.saved for step in steps)
            return ["no unwind information"] if framed else []
        return _contradictions(table, steps)
    except UnsupportedTable as reason:
        return [f"unsupported unwind information: {reason}"]


def _contradictions(table: Table, steps: Sequence[Step]) -> list[str]:
    """Return each line once, at its lowest offset, with the number of instructions that share it."""
    slots: dict[str, set[int]] = {}
    for step in steps:
        for register, slot in step.saved.items():
            slots.setdefault(register, set()).add(slot)
    found: dict[str, list[int]] = {}
    for step in sorted(steps, key=lambda s: s.offset):
        rules = table.at(step)
        lines = [rules] if isinstance(rules, str) else _compare(step, rules, slots)
        for line in lines:
            found.setdefault(line, []).append(step.offset)
    return [
        f"+{offsets[0]:#x}: {line}" + (f" (and {len(offsets) - 1} more)" if len(offsets) > 1 else "")
        for line, offsets in found.items()
    ]


def _compare(step: Step, rules: Rules, known: Mapping[str, set[int]]) -> list[str]:
    """Return the errors of the rules at one step. `known`: the slots that ever hold a register's value."""
    lines = []
    if rules.depth != step.depth:
        lines.append(f"the table has the stack {rules.depth} bytes deep, it is {step.depth}")
    for register, slot in step.saved.items():
        told = rules.slots.get(register)
        if told is None:
            lines.append(f"the table has no rule for the saved {register}")
        elif told != slot:
            lines.append(f"the table has {register} at entry rsp {told:+}, it is at {slot:+}")
    lowest = -step.depth - (RED_ZONE if rules.red_zone and step.in_epilogue else 0)
    for register, told in rules.slots.items():
        if register in step.saved:
            continue
        # The register still has its entry value, so the slot must have it as well.
        if told not in known.get(register, {told}):
            lines.append(f"the table has {register} at entry rsp {told:+}, where it never is")
        elif told < lowest:
            lines.append(f"the table has {register} at entry rsp {told:+}, which is not saved yet")
    return lines
