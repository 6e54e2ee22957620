"""Padding between functions of x86 code."""

from __future__ import annotations

from iced_x86 import Decoder

from gfsmith.prove.machine.x86.encoding import FILLING

MACHINE = "x86-64"


def without_filling(code: bytes) -> bytes:
    """Return code without the nops, int3s and zeros at its end; unchanged if it cannot be decoded."""
    end = 0
    for instruction in Decoder(64, code):
        if not any(code[end:]):
            break
        if instruction.is_invalid:
            return code
        if instruction.code not in FILLING:
            end = instruction.next_ip
    return code[:end]
