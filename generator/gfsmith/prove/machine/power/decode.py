"""POWER instructions, decoded with capstone: the form and the operands, for the semantics tables.

A form is the mnemonic and the shapes of the operands, as they stand in the disassembly:

    r       a general register
    v       a vector-scalar register, by whichever of its names: vs3, f3, v3 (which is vs35)
    cr      a field of the condition register
    bit     one bit of the condition register
    #       a number; 0 where a register may be left out
    [r]     memory at register + displacement

as in "addi r r #", "ldu r [r]", "lxvd2x v # r", "vpermxor v v v v". capstone does not give the operands of
conditional branches, and does not decode prefixed instructions. Branches and xxeval are read from the
instruction itself.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

import capstone

from gfsmith.prove.machine.linear import Word
from gfsmith.prove.machine.operands import General, Immediate, Vector
from gfsmith.prove.machine.power.registers import VMX

_REGISTER = re.compile(r"(vs|v|f|r)(\d+)")
_PLACE = re.compile(r"(-?(?:0x)?[0-9a-f]+)\((r\d+|0)\)")
_FIELD = re.compile(r"cr[0-7]")
_BIT = re.compile(r"(cr[0-7])(lt|gt|eq|so|un)")
_NUMBER = re.compile(r"-?(?:0x[0-9a-f]+|\d+)")
BITS = ("lt", "gt", "eq", "so")
_BC, _B, _XL = 16, 18, 19  #: primary opcodes of branches
_BCLR = 16  #: of the last, its extended opcode
_LIKELY_TEST, _LIKELY_COUNT = 2, 8  #: bit a of the options of a branch, which states that bit t is a hint
WORD, PREFIXED = 4, 8  #: bytes of an instruction, and of one with a prefix
_PREFIX = 1  #: primary opcode of prefixes
#: The bits of xxeval that are fixed, prefix first (Power ISA 3.1, 8RR-form with an immediate).
_XXEVAL, _XXEVAL_MASK = 0x05000000_88000010, 0xFFFFFF00_FC000030


class Field(NamedTuple):
    """A field of the condition register."""

    name: str


class Bit(NamedTuple):
    """A bit of the condition register: lt, gt, eq or so of a field."""

    field: str
    name: str


class Place(NamedTuple):
    """Memory at base + displacement."""

    base: str
    displacement: Word


Operand = General | Vector | Field | Bit | Immediate | Place


class Branch(NamedTuple):
    """The condition of a branch: bit is `wanted`; or, counting, the decremented counter is 0 (`zero`) or not;
    neither: always. returns: to the link register. links: it is a call. target: an address."""

    target: int
    bit: Bit | None = None
    wanted: bool = False
    counts: bool = False
    zero: bool = False
    returns: bool = False
    links: bool = False


class Decoded(NamedTuple):
    """An instruction: its form, operands, branch, and text."""

    mnemonic: str
    form: str
    operands: tuple[Operand, ...]
    branch: Branch | None
    text: str

    def __str__(self) -> str:
        return self.text


@lru_cache(maxsize=1)
def _capstone() -> capstone.Cs:
    decoder = capstone.Cs(capstone.CS_ARCH_PPC, capstone.CS_MODE_64 | capstone.CS_MODE_LITTLE_ENDIAN)
    decoder.detail = True
    return decoder


def width(code: bytes) -> int:
    """Return the bytes of the instruction with which code begins."""
    return PREFIXED if int.from_bytes(code[:WORD], "little") >> 26 == _PREFIX else WORD


@lru_cache(maxsize=1 << 16)
def decode(code: bytes, address: int) -> Decoded | None:
    """Return the instruction in its bytes; None if no decoder reads it, or capstone reads other operands."""
    if width(code) == PREFIXED:
        return _prefixed(code) if len(code) >= PREFIXED else None
    found: Any = next(_capstone().disasm(code[:WORD], address, 1), None)
    if found is None:
        return None
    text = f"{found.mnemonic} {found.op_str}".rstrip()
    word = int.from_bytes(code[:WORD], "little")
    if word >> 26 in (_BC, _B, _XL):
        target = found.operands[-1].imm if found.operands and word >> 26 != _XL else 0
        branch = _branch(word, target)
        if branch is not None:
            return Decoded(found.mnemonic, found.mnemonic, (), branch, text)
    shapes, operands = [], []
    for part in found.op_str.split(", ") if found.op_str else []:
        read = _operand(part)
        if read is None:
            return None
        shapes.append(read[0])
        operands.append(read[1])
    return Decoded(found.mnemonic, " ".join([found.mnemonic, *shapes]), tuple(operands), None, text)


def _prefixed(code: bytes) -> Decoded | None:
    """Return an xxeval; None for other prefixed instructions."""
    prefix, suffix = (int.from_bytes(code[at : at + WORD], "little") for at in (0, WORD))
    if (prefix << 32 | suffix) & _XXEVAL_MASK != _XXEVAL:
        return None
    high = (suffix << 5, suffix << 3, suffix << 4, suffix << 2)  # bits XX, AX, BX, CX, as bit 5
    low = (suffix >> 21, suffix >> 16, suffix >> 11, suffix >> 6)
    numbers = [above & 32 | below & 31 for above, below in zip(high, low, strict=True)]
    operands: list[Operand] = [*map(Vector, numbers), Immediate(prefix & 0xFF)]
    text = f"xxeval {', '.join(f'vs{number}' for number in numbers)}, {prefix & 0xFF:#x}"
    return Decoded("xxeval", "xxeval v v v v #", tuple(operands), None, text)


def _branch(word: int, target: int) -> Branch | None:
    """Return the branch of an instruction word (Power ISA, 2.4); None for other instructions and for
    unsupported branches."""
    links = bool(word & 1)
    if word >> 26 == _B:
        return Branch(target, links=links)
    returns = word >> 26 == _XL
    if returns and word >> 1 & 0x3FF != _BCLR:
        return None
    options, number = word >> 21 & 31, word >> 16 & 31
    tests, counts = not options & 16, not options & 4
    if tests and counts:
        return Branch(target, links=True)  # no compiler makes these: not understood, as a call is
    if tests != counts and options & 1 and not options & (_LIKELY_TEST if tests else _LIKELY_COUNT):
        return Branch(target, links=True)  # at = 01: a reserved hint makes the form invalid
    bit = Bit(f"cr{number >> 2}", BITS[number & 3]) if tests else None
    return Branch(target, bit, bool(options & 8), counts, bool(options & 2), returns, links)


def _operand(text: str) -> tuple[str, Operand] | None:
    if found := _REGISTER.fullmatch(text):
        kind, number = found[1], int(found[2])
        if kind == "r":
            return "r", General(text)
        return "v", Vector(number + VMX if kind == "v" else number)
    if found := _PLACE.fullmatch(text):
        return "[r]" if found[2] != "0" else "[]", Place(found[2], int(found[1], 0))
    if _FIELD.fullmatch(text):
        return "cr", Field(text)
    if found := _BIT.fullmatch(text):
        return "bit", Bit(found[1], found[2] if found[2] != "un" else "so")
    if _NUMBER.fullmatch(text):
        return "#", Immediate(int(text, 0))
    return None
