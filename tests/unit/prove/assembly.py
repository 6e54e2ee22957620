"""Kernels as assembly text that can be edited: machine code -> text -> machine code."""

from __future__ import annotations

from pathlib import Path

from iced_x86 import Decoder, FlowControl, Formatter, FormatterSyntax, Instruction

from gfsmith.prove.machine.formats.image import Image
from gfsmith.prove.machine.formats.load import load
from tests.unit.prove.objects import GCC, assemble

NAME = "kernel"

_FRAME = f"""
    .intel_syntax noprefix
    .text
    .globl {NAME}
    .type {NAME}, @function
{NAME}:
    {{}}
    .size {NAME}, . - {NAME}
"""


def _formatter() -> Formatter:
    formatter = Formatter(FormatterSyntax.INTEL)
    formatter.number_base = 10
    formatter.space_after_operand_separator = True
    return formatter


def _is_jump(instruction: Instruction) -> bool:
    jumps = (FlowControl.UNCONDITIONAL_BRANCH, FlowControl.CONDITIONAL_BRANCH)
    return instruction.flow_control in jumps


def disassemble(code: bytes) -> list[str]:
    """Return one instruction or label (L0, L1, ... by address) per line, in the syntax of GNU as, without
    padding.
    """
    instructions = list(Decoder(64, code, ip=0))
    targets = sorted({i.near_branch_target for i in instructions if _is_jump(i)})
    labels = {target: f"L{number}" for number, target in enumerate(targets)}
    formatter = _formatter()
    lines = []
    for instruction in instructions:
        if instruction.ip in labels:
            lines.append(labels[instruction.ip] + ":")
        text = formatter.format(instruction)
        if _is_jump(instruction):
            text = f"{formatter.format_mnemonic(instruction)} {labels[instruction.near_branch_target]}"
        if not text.startswith("nop"):
            lines.append(text)
    return lines


def edit(lines: list[str], old: str, new: str, nth: int = 0) -> list[str]:
    """Return the lines with the nth line equal to `old` replaced by `new`: any number of lines, separated by
    newlines.
    """
    at = [number for number, line in enumerate(lines) if line == old][nth]
    return [*lines[:at], *new.splitlines(), *lines[at + 1 :]]


def image(text: str, folder: Path) -> Image:
    """Assemble a function `kernel` with this body (Intel syntax) and return its image."""
    return load(assemble(GCC, _FRAME.format(text), folder, NAME))
