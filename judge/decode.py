"""x86-64 instructions from capstone: the form, the operands, and regular encodings only.

A form is a mnemonic, the encoding, and the kinds of the operands, such as "vpxor vex v32 v32 m32". The
encoding is the legacy prefix (66, F2, F3, or - for none), vex or evex. The kinds are v (vector register), r
(general register), k (mask register), m (memory), each with its bytes, and i (number); b marks a number in
memory that is repeated. {k} marks a write mask, {z} zeros in the bytes that it leaves out. semantics.py has
the table of the forms that may occur.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

import capstone
from capstone import x86

from judge.integers import Rejected, require

#: The general registers by number, each with the names of its low 8, 4, 2 and 1 bytes.
_NAMES = [
    *(f"r{a}x e{a}x {a}x {a}l".split() for a in "acdb"),
    *(f"r{a} e{a} {a} {a}l".split() for a in ("sp", "bp", "si", "di")),
    *(f"r{n} r{n}d r{n}w r{n}b".split() for n in range(8, 16)),
]
GENERAL = tuple(names[0] for names in _NAMES)
MASKS = tuple(f"k{n}" for n in range(8))
#: At most one prefix, then at most one REX prefix, then an opcode that is no prefix.
_LEGACY = rb"([\x66\xf2\xf3])?[\x40-\x4f]?[^\x26\x2e\x36\x3e\x40-\x4f\x62\x64-\x67\xc4\xc5\xf0\xf2\xf3].*"
#: 90 or 0F 1F /0, after 66 or 2E and a REX prefix, which is without REX.B before 90.
_NO_OP = (
    rb"[\x66\x2e]*([\x40\x42\x44\x46\x48\x4a\x4c\x4e]?\x90"
    rb"|[\x40-\x4f]?\x0f\x1f[\x00-\x07\x40-\x47\x80-\x87\xc0-\xc7].*)"
)
_DECODER = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
_DECODER.detail = True


class General(NamedTuple):
    name: str
    size: int


class Vector(NamedTuple):
    number: int
    size: int


class Memory(NamedTuple):
    """base + other * factor + displacement. size: bytes, of one copy if they are `repeated`. base rip:
    relative to the next instruction."""

    base: str
    other: str
    factor: int
    displacement: int
    size: int
    repeated: bool


Operand = General | Vector | Memory | int
_REGISTERS: dict[str, Operand] = {
    **{name: General(names[0], 8 >> n) for names in _NAMES for n, name in enumerate(names)},
    **{f"{letter}mm{n}": Vector(n, 16 << at) for at, letter in enumerate("xyz") for n in range(32)},
    **{name: General(name, 8) for name in MASKS},
}


class Instruction(NamedTuple):
    """One instruction. mask: write mask register, "" for none."""

    form: str
    name: str
    operands: tuple[Operand, ...]
    mask: str
    size: int


def _operand(ins: capstone.CsInsn, op: x86.X86Op, widest: int) -> Operand:
    """Return an operand. widest: bytes of the widest vector register."""
    if op.type == x86.X86_OP_IMM:
        return int(op.imm)
    if op.type == x86.X86_OP_REG:
        name = ins.reg_name(op.reg)
        return _REGISTERS.get(name, General(name, 0))  # no form has a register of 0 bytes
    base, other = (ins.reg_name(number) or "" for number in (op.mem.base, op.mem.index))
    known = base in (*GENERAL, "rip") and other in (*GENERAL, "") and op.mem.segment == 0
    require(known, "an address without a base, or with registers that are not supported")
    size = widest >> op.avx_bcast if op.avx_bcast else op.size  # capstone 5 has no size of repeated numbers
    code, displacement = bytes(ins.bytes), op.mem.disp
    if code[0] == 0x62 and code[5] >> 6 == 1:  # capstone 5 does not scale all displacements of one byte
        place = 7 if code[5] & 7 == 4 else 6
        displacement = int.from_bytes(code[place : place + 1], "little", signed=True) * size
    return Memory(base, other, op.mem.scale, displacement, size, op.avx_bcast > 0)


def _kind(op: Operand) -> str:
    if isinstance(op, int):
        return "i"
    if isinstance(op, General):
        return f"{'k' if op.name in MASKS else 'r'}{op.size}"
    return f"v{op.size}" if isinstance(op, Vector) else f"m{op.size}{'b' * op.repeated}"


def _legacy(name: str, code: bytes) -> str:
    """Return the prefix of a legacy encoding, which CPUs may not treat differently."""
    found = re.fullmatch(_LEGACY, code, re.DOTALL)
    require(found is not None, "{} with prefixes that it does not need", name)
    return (found[1] or b"").hex().upper() or "-"  # type: ignore[index]


def _check_vex(name: str, operands: tuple[Operand, ...], code: bytes) -> None:
    """Raise Rejected for VEX and EVEX prefixes that a CPU refuses: reserved bits, a register that the form
    does not have, rounding of integers (Intel SDM, volume 2, 2.3 and 2.7)."""
    third = name == "vpsrlq" or sum(not isinstance(operand, int) for operand in operands) >= 3
    unused = code[1 if code[0] == 0xC5 else 2] & 0x78 == 0x78
    require(third or unused, "{} with a third register", name)
    if code[0] == 0x62:
        repeated = any(isinstance(operand, Memory) and operand.repeated for operand in operands)
        reserved = code[1] & 0x08 or not code[2] & 0x04 or not (third or code[3] & 0x08)
        require(not reserved and 0 < code[3] & 0x60 < 0x60, "{} with reserved bits, or other widths", name)
        require(bool(code[3] & 0x10) == repeated, "{} with rounding", name)
        require(code[3] & 0x87 != 0x80, "{} with zeros instead of bytes of no mask", name)


@cache
def decode(code: bytes) -> Instruction:
    """Return the first instruction of some bytes. The targets of branches are relative to it. Raises
    Rejected."""
    ins = next(_DECODER.disasm(code, 0, 1), None)
    if ins is None:
        raise Rejected(f"no instruction {code.hex()}")
    name, code = ins.mnemonic.replace("movabs", "mov"), code[: ins.size]
    if name == "nop":
        require(re.fullmatch(_NO_OP, code, re.DOTALL) is not None, "another no-op: {}", code.hex(" "))
        return Instruction("nop -", name, (), "", ins.size)
    encoding = {0x62: "evex", 0xC4: "vex", 0xC5: "vex"}.get(code[0]) or _legacy(name, code)
    number, zeroing = (code[3] & 7, code[3] >> 7) if encoding == "evex" else (0, 0)
    mask = MASKS[number] if number else ""
    registers = [op for op in ins.operands if op.type == x86.X86_OP_REG]
    widest = max((op.size for op in registers), default=0)
    masks = [op for op in registers if mask and ins.reg_name(op.reg) == mask]
    operands = tuple(_operand(ins, op, widest) for op in ins.operands if op not in masks)
    if encoding in ("vex", "evex"):
        _check_vex(name, operands, code)
    marks = "{k}" * bool(mask) + "{z}" * zeroing
    form = f"{name} {encoding} {' '.join(map(_kind, operands))}{marks}".strip()
    return Instruction(form, name, operands, mask, ins.size)


def sizes(code: bytes) -> dict[int, int]:
    """Return the bytes of each instruction by place, as long as instructions follow each other."""
    return {place: size for place, size, _, _ in _DECODER.disasm_lite(code, 0)}
