"""s390x instructions, decoded with capstone: the form and the operands, for the semantics tables.

A form is the mnemonic and the shapes of the operands, as they stand in the disassembly:

    r       a general register
    v       a vector register, also as the floating-point register that is its left half
    #       a number
    []      memory at index + base + displacement
    [n]     the same with a length

as in "aghi r #", "lg r []", "mvc [n] []", "vperm v v v v". Branches, and the conditions of conditional loads,
are read from the instruction itself. The alignment hint of vl and vst, which capstone does not decode, has no
effect and is removed before.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

import capstone

from gfsmith.prove.machine.operands import General, Immediate, Vector

#: Bytes of the longest instruction.
LONGEST = 6
_PART = re.compile(r"(?:[^,(]|\([^)]*\))+")
_REGISTER = re.compile(r"%(r|v|f)(\d+)")
_PLACE = re.compile(r"(-?(?:0x)?[0-9a-f]+)\(([^)]*)\)")
_NUMBER = re.compile(r"-?(?:0x[0-9a-f]+|\d+)")
_ALWAYS = 15
_RESERVED = 1  #: the bit of the mask of compare and branch that has no meaning
_VECTOR, _HINTED = 0xE7, (0x06, 0x0E)  #: opcodes of vl and vst
_HINTS = (3, 4)  #: a multiple of 8 or of 16; other hints are reserved
#: Opcodes with a condition: bcr, brc, brcl, and those of compare and branch by their last byte.
_BCR, _BRC, _BRCL, _COMPARE = 0x07, 0xA7, 0xC0, 0xEC
_BRCTG = 7  #: the lower half of the opcode of brctg; that of brc and brcl is 4
#: Last byte of a comparison of registers, or with a number -> bytes, signed.
_REGISTERS = {0x64: (8, True), 0x65: (8, False), 0x76: (4, True), 0x77: (4, False)}
_NUMBERS = {0x7C: (8, True), 0x7D: (8, False), 0x7E: (4, True), 0x7F: (4, False)}
_LOCGHI = 0x46  #: the last byte of locghi


class Place(NamedTuple):
    """Memory at the sum of registers, less than three, and a displacement. length: bytes, 0 if not stated."""

    registers: tuple[str, ...]
    displacement: int
    length: int = 0


Operand = General | Vector | Immediate | Place


class Branch(NamedTuple):
    """A branch to `target`, or to the link register if it `returns`. mask: the condition codes for which it
    is taken, 8 for code 0 to 1 for code 3; for a comparison 8 equal, 4 lower, 2 higher. compared: the
    operands of its comparison, of `size` bytes. counts: the register that is decremented, and then must not
    be 0."""

    target: int
    mask: int = _ALWAYS
    returns: bool = False
    compared: tuple[Operand, Operand] | None = None
    size: int = 8
    signed: bool = False
    counts: str = ""


class Decoded(NamedTuple):
    """An instruction: its form, operands, bytes, branch, condition codes for which it loads, and text."""

    mnemonic: str
    form: str
    operands: tuple[Operand, ...]
    size: int
    branch: Branch | None
    mask: int
    text: str

    def __str__(self) -> str:
        return self.text


@lru_cache(maxsize=1)
def _capstone() -> capstone.Cs:
    return capstone.Cs(capstone.CS_ARCH_SYSZ, capstone.CS_MODE_BIG_ENDIAN)


def width(code: bytes) -> int:
    """Return the bytes of the instruction with which code begins (Principles of Operation, chapter 5)."""
    return (2, 4, 4, 6)[code[0] >> 6]


@lru_cache(maxsize=1 << 16)
def decode(code: bytes, address: int) -> Decoded | None:
    """Return the instruction in its bytes; None if capstone cannot decode it, or decodes other operands."""
    if len(code) != width(code):
        return None
    found: Any = next(_capstone().disasm(_without_hint(code), address, 1), None)
    if found is None or found.size != len(code):
        return None
    text = f"{found.mnemonic} {found.op_str}".rstrip()
    branch = _branch(code, address)
    if branch is not None:
        return Decoded(found.mnemonic, found.mnemonic, (), len(code), branch, 0, text)
    shapes, operands = [], []
    for part in _PART.findall(found.op_str):
        read = _operand(part.strip())
        if read is None:
            return None
        shapes.append(read[0])
        operands.append(read[1])
    mnemonic, mask = found.mnemonic, 0
    if code[0] == _COMPARE and code[5] == _LOCGHI:
        mnemonic, mask = "locghi", code[1] & 15
    form = " ".join([mnemonic, *shapes])
    return Decoded(mnemonic, form, tuple(operands), len(code), None, mask, text)


def _without_hint(code: bytes) -> bytes:
    if code[0] != _VECTOR or code[5] not in _HINTED or code[4] >> 4 not in _HINTS:
        return code
    return code[:4] + bytes([code[4] & 0x0F]) + code[5:]


def _branch(code: bytes, address: int) -> Branch | None:
    """Return the branch of an instruction (Principles of Operation, chapter 7); None for other instructions
    and for unsupported branches."""
    first, second = code[1] >> 4, code[1] & 15
    if code[0] == _BCR:
        return Branch(0, first, returns=True) if second == 14 else None
    if code[0] in (_BRC, _BRCL) and second == 4:
        return Branch(address + 2 * int.from_bytes(code[2:], "big", signed=True), first)
    target = address + 2 * int.from_bytes(code[2:4], "big", signed=True)
    if code[0] == _BRC and second == _BRCTG:
        return Branch(target, counts=f"r{first}")
    if code[0] != _COMPARE:
        return None
    left, right, mask = General(f"r{first}"), General(f"r{second}"), code[4] >> 4
    if code[5] in _REGISTERS and not mask & _RESERVED:
        size, signed = _REGISTERS[code[5]]
        return Branch(target, mask, compared=(left, right), size=size, signed=signed)
    if code[5] in _NUMBERS and not second & _RESERVED:
        size, signed = _NUMBERS[code[5]]
        number = Immediate(int.from_bytes(code[4:5], "big", signed=signed))
        return Branch(target, second, compared=(left, number), size=size, signed=signed)
    return None


def _operand(text: str) -> tuple[str, Operand] | None:
    if found := _REGISTER.fullmatch(text):
        return ("r", General(f"r{found[2]}")) if found[1] == "r" else ("v", Vector(int(found[2])))
    if found := _PLACE.fullmatch(text):
        parts = [part.strip() for part in found[2].split(",")]
        length = 0 if parts[0].startswith("%") else int(parts.pop(0), 0)
        registers = tuple(part.removeprefix("%") for part in parts)
        return "[n]" if length else "[]", Place(registers, int(found[1], 0), length)
    if _NUMBER.fullmatch(text):
        return "#", Immediate(int(text, 0))
    return None
