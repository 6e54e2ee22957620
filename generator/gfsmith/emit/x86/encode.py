"""Encoding of instructions with PeachPy, with short jumps where their range suffices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import peachpy.x86_64 as peachpy
from peachpy.x86_64 import encoding
from peachpy.x86_64.operand import MemoryAddress, MemoryOperand, RIPRelativeOffset
from peachpy.x86_64.registers import RegisterMask
from peachpy.x86_64.registers import rsp as RSP

from gfsmith.emit.x86 import gfni
from gfsmith.emit.x86.asm import Data, Ins, Label, Line, Mark, Mem, Operand, Reg

_ENDBR64 = b"\xf3\x0f\x1e\xfa"
_LEA_RDX = b"\x48\x8d\x15"  #: lea rdx, [rip + ...], without the four bytes of its displacement
_LONG = 1 << 20  #: an offset that needs 32 bits


@dataclass(frozen=True, slots=True)
class Encoded:
    """A line of the kernel with its bytes. Only instructions, constants and padding have bytes."""

    line: Line
    offset: int
    code: bytes


def _register(name: str) -> Any:
    return RSP if name == "rsp" else getattr(peachpy, name)


def _memory(mem: Mem) -> MemoryOperand:
    address = MemoryAddress(
        base=_register(mem.base),
        index=_register(mem.index) if mem.index else None,
        scale=mem.scale if mem.index else None,
        displacement=mem.displacement,
    )
    return MemoryOperand(address, mem.size or None, broadcast=mem.broadcast or None)


def _operand(operand: Operand, distance: int) -> Any:
    match operand:
        case Reg(name):
            return _register(name)
        case Mem():
            return _memory(operand)
        case Label():
            return RIPRelativeOffset(distance)
        case int():
            return operand


@lru_cache(maxsize=1 << 18)
def encode(instruction: Ins, distance: int = 0) -> bytes:
    """Return the shortest encoding. distance: from the end of a jump to its target."""
    if instruction.name == "endbr64":
        return _ENDBR64
    if instruction.name == "lea" and instruction.target:
        return _LEA_RDX + distance.to_bytes(4, "little", signed=True)
    operands = [_operand(o, distance) for o in instruction.operands]
    if instruction.mask:
        mask = RegisterMask(_register(instruction.mask), instruction.zeroing)
        operands[0] = operands[0](mask)
    name = instruction.name.upper()
    constructor = gfni.INSTRUCTIONS.get(name) or getattr(peachpy, name)
    return bytes(constructor(*operands).encode())


def _sizes(lines: Sequence[Line]) -> tuple[list[int], dict[str, int]]:
    """Return the offsets of all lines and labels with every jump as short as possible.

    All jumps start short, and those whose range does not suffice become long until nothing changes. Sizes
    only grow, so this terminates.
    """
    long: set[int] = set()
    while True:
        offsets, labels, position = [], {}, 0
        for number, line in enumerate(lines):
            offsets.append(position)
            if isinstance(line, Mark):
                position += -position % line.align
                labels[line.label.name] = position
            elif isinstance(line, Data):
                position += len(line.content)
            elif isinstance(line, Ins):
                distance = (_LONG if number in long else 0) if line.target else 0
                position += len(encode(line, distance))
        grown = {
            number
            for number, line in enumerate(lines)
            if isinstance(line, Ins)
            and line.target
            and number not in long
            and not -128 <= labels[line.target.name] - offsets[number] - 2 <= 127
        }
        if not grown:
            return [*offsets, position], labels
        long |= grown


def assemble(lines: Sequence[Line]) -> list[Encoded]:
    """Return all lines with their offsets and encodings."""
    offsets, labels = _sizes(lines)
    result = []
    for number, line in enumerate(lines):
        offset, end = offsets[number], offsets[number + 1]
        code = b""
        if isinstance(line, Ins):
            distance = labels[line.target.name] - end if line.target else 0
            code = encode(line, distance)
            if line.target and len(code) != end - offset:
                # A jump that became long early may finally fit into 8 bits. It keeps its size.
                code = _long_jump(line, distance)
        elif isinstance(line, Data):
            code = line.content
        elif isinstance(line, Mark) and end > offset:
            code = padding(end - offset)
        if len(code) != end - offset:
            raise AssertionError(f"{line} encodes to {len(code)} bytes, not {end - offset}")
        result.append(Encoded(line, offset, code))
    return result


def _long_jump(line: Ins, distance: int) -> bytes:
    """Return the 32-bit form of a jump whose distance fits into 8 bits."""
    pattern = encode(line, _LONG)
    return pattern[:-4] + distance.to_bytes(4, "little", signed=True)


def padding(length: int) -> bytes:
    """Return no-ops of `length` bytes."""
    code = b""
    while length:
        size = min(length, 9)
        code += bytes(encoding.nop(size))
        length -= size
    return code
