"""Decoding with iced-x86, an independent check of PeachPy's encodings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from iced_x86 import (
    Decoder,
    Formatter,
    FormatterSyntax,
    Instruction,
    MemorySizeExt,
    Mnemonic,
    OpKind,
    Register,
    RegisterExt,
)

from gfsmith.emit.x86.asm import Ins, Label, Mark, Mem, Operand, Reg
from gfsmith.emit.x86.encode import Encoded

_formatter = Formatter(FormatterSyntax.NASM)
_IMMEDIATES = {
    OpKind.IMMEDIATE8,
    OpKind.IMMEDIATE8TO16,
    OpKind.IMMEDIATE8TO32,
    OpKind.IMMEDIATE8TO64,
    OpKind.IMMEDIATE16,
    OpKind.IMMEDIATE32,
    OpKind.IMMEDIATE32TO64,
    OpKind.IMMEDIATE64,
}
_ALIASES = {"jae": "jnb", "jne": "jnz", "je": "jz", "jbe": "jna", "ja": "jnbe"}


class EncodingError(AssertionError):
    """The bytes of an instruction decode to another instruction than intended."""


@lru_cache(maxsize=1024)
def _name(register: Any) -> str:
    return _formatter.format_register(register)


def canonical(name: str) -> str:
    """Return one spelling for each condition."""
    return _ALIASES.get(name, name)


def _memory(instr: Instruction) -> Mem:
    broadcast = 0
    size = MemorySizeExt.size(instr.memory_size)
    if instr.is_broadcast:
        size = MemorySizeExt.element_size(instr.memory_size)
        broadcast = RegisterExt.size(instr.op0_register) // size
    if instr.is_ip_rel_memory_operand:
        raise EncodingError(f"{instr} addresses memory relative to itself")
    displacement = instr.memory_displacement
    if displacement >= 1 << 63:
        displacement -= 1 << 64
    has_index = instr.memory_index != Register.NONE
    index, scale = (_name(instr.memory_index), instr.memory_index_scale) if has_index else (None, 1)
    return Mem(_name(instr.memory_base), size, index, displacement, broadcast, scale)


def _operand(instr: Instruction, number: int, labels: dict[int, str]) -> Operand:
    kind = instr.op_kind(number)
    if kind == OpKind.REGISTER:
        return Reg(_name(instr.op_register(number)))
    if kind == OpKind.MEMORY and instr.mnemonic == Mnemonic.LEA and instr.is_ip_rel_memory_operand:
        return _place(instr, instr.ip_rel_memory_address, labels)
    if kind == OpKind.MEMORY:
        return _memory(instr)
    if kind == OpKind.NEAR_BRANCH64:
        return _place(instr, instr.near_branch_target, labels)
    if kind in _IMMEDIATES:
        value = instr.immediate(number)
        return value - (1 << 64) if value >= 1 << 63 else value
    raise EncodingError(f"operand {number} of {instr} has a kind that kernels do not use")


def _place(instr: Instruction, target: int, labels: dict[int, str]) -> Label:
    if target not in labels:
        raise EncodingError(f"{instr} targets {target}, which has no label")
    return Label(labels[target])


def _decode(code: bytes, offset: int) -> Instruction:
    decoder = Decoder(64, code, ip=offset)
    instr = decoder.decode()
    if instr.is_invalid or instr.len != len(code):
        raise EncodingError(f"{code.hex()} is not one instruction")
    return instr


def lift(code: bytes, offset: int, labels: dict[int, str]) -> Ins:
    """Return the single instruction in `code` as an asm.Ins."""
    instr = _decode(code, offset)
    name = _formatter.format_mnemonic(instr).split()[-1]
    operands = tuple(_operand(instr, n, labels) for n in range(instr.op_count))
    mask = _name(instr.op_mask) if instr.has_op_mask else None
    return Ins(canonical(name), operands, mask, instr.zeroing_masking)


def _sized(operand: Operand, seen: Operand) -> Operand:
    """Return `operand` with the size that iced-x86 reports, for prefetch and lea, whose operand has no
    size."""
    if isinstance(operand, Mem) and isinstance(seen, Mem) and operand.size == 0:
        return replace(operand, size=seen.size)
    return operand


def check(encoded: Sequence[Encoded]) -> None:
    """Raise EncodingError unless every instruction decodes to exactly the intended one."""
    labels: dict[int, str] = {}
    names: dict[str, str] = {}
    for item in encoded:
        if isinstance(item.line, Mark):
            place = item.offset + len(item.code)
            names[item.line.label.name] = labels.setdefault(place, item.line.label.name)
    for item in encoded:
        if isinstance(item.line, Mark) and item.code:
            _check_padding(item.code, item.offset)
        if not isinstance(item.line, Ins):
            continue
        seen = lift(item.code, item.offset, labels)
        meant = _meant(item.line, seen, names)
        if seen != meant:
            raise EncodingError(f"{item.code.hex()} decodes to '{seen}' instead of '{meant}'")


def _meant(line: Ins, seen: Ins, names: dict[str, str]) -> Ins:
    """Return the intended instruction, with one name per position and condition."""
    operands = []
    for number, operand in enumerate(line.operands):
        if isinstance(operand, Label):
            operand = Label(names[operand.name])
        elif number < len(seen.operands):
            operand = _sized(operand, seen.operands[number])
        operands.append(operand)
    return Ins(canonical(line.name), tuple(operands), line.mask, line.zeroing)


def _check_padding(code: bytes, offset: int) -> None:
    for instr in Decoder(64, code, ip=offset):
        if not _formatter.format_mnemonic(instr).endswith("nop"):
            raise EncodingError(f"padding {code.hex()} does not consist of no-ops")
