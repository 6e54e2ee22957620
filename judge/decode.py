"""x86-64 instructions from capstone's disassembly: operands, CPU features, and regular encodings only.

Every mnemonic that is not in TABLE is rejected. The displacement of EVEX operands, which capstone does not
scale for all instructions, is read from the bytes.
"""

from __future__ import annotations

import re
from typing import NamedTuple, TypeVar

import capstone

from judge.integers import Rejected

GENERAL = (
    *("rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi"),
    *(f"r{number}" for number in range(8, 16)),
)
_LEGACY_PREFIXES = frozenset(b"\x26\x2e\x36\x3e\x64\x65\x66\x67\xf2\xf3\xf0")


class General(NamedTuple):
    name: str
    size: int


class Vector(NamedTuple):
    number: int
    size: int


class Mask(NamedTuple):
    number: int


class Memory(NamedTuple):
    """base + other * factor + displacement. size: bytes, of one copy if `copies` > 1. base rip: relative to
    the next instruction."""

    base: str
    other: str
    factor: int
    displacement: int
    size: int
    copies: int = 1


Operand = General | Vector | Mask | Memory | int


class Row(NamedTuple):
    """A mnemonic's legacy prefixes, and the features of its legacy or VEX (128, 256 bits) or EVEX forms."""

    prefixes: frozenset[int] = frozenset()
    features: tuple[str, ...] = ()
    wide: tuple[str, ...] = ()


_P66, _PF3, _PF2, _NONE = frozenset({0x66}), frozenset({0xF3}), frozenset({0xF2}), frozenset[int]()
_AVX, _AVX2, _F, _BW = ("AVX",), ("AVX2",), ("AVX512F",), ("AVX512F", "AVX512BW")


def _rows(names: str, *row: object) -> dict[str, Row]:
    return {name: Row(*row) for name in names.split()}  # type: ignore[arg-type]


#: Mnemonic -> encoding and features. wide: of forms with ymm registers, where they differ.
TABLE: dict[str, Row] = {
    **_rows("mov lea add sub cmp test xor or and shl push pop jmp je jne jb jae ja jbe ret vzeroupper"),
    **_rows("movzx sfence prefetcht0 prefetcht1 prefetcht2 prefetchnta nop movups movaps movhps"),
    **_rows("endbr64", _PF3),
    **_rows("bzhi", _NONE, ("BMI2",)),
    **_rows("kmovq", _NONE, _BW),
    **_rows("movd movdqa movntdq paddb pand pcmpgtb pextrw pinsrw psrlq pshufd pxor", _P66),
    **_rows("movdqu", _PF3),
    **_rows("movddup", _PF2, ("SSE3",)),
    **_rows("pshufb", _P66, ("SSSE3",)),
    **_rows("gf2p8affineqb gf2p8mulb", _P66, ("GFNI",)),
    **_rows("vmovdqu vmovdqa vmovntdq", _NONE, _AVX, _AVX),
    **_rows("vmovd vmovq vmovhps vpextrw vpinsrw", _NONE, _AVX),
    **_rows("vpand vpcmpgtb vpxor vpaddb vpshufb vpsrlq", _NONE, _AVX, _AVX2),
    **_rows("vgf2p8affineqb vgf2p8mulb", _NONE, ("AVX", "GFNI"), ("AVX", "GFNI")),
    **_rows("vbroadcasti128 vinserti128 vextracti128 vpbroadcastd vpbroadcastq", _NONE, _AVX2, _AVX2),
    **_rows("vbroadcasti32x4 vmovdqa64 vmovdqu64 vpandd vpandq vpxord vpxorq vpternlogd", _NONE, _F),
    **_rows("vmovdqu8", _NONE, _BW),
}
TABLE["vzeroupper"] = Row(features=_AVX)
#: Two encodings: 66 0F D6 stores and 66 REX.W moves registers; F3 0F 7E loads.
TABLE["movq"] = Row(_P66)
_WORD_EVEX = frozenset({"vpshufb", "vpaddb"})  #: of AVX512BW in EVEX
_EVEX = _WORD_EVEX | {"vmovdqu8", "vmovdqa64", "vmovntdq", "vpxord", "vpandd", "vpternlogd", "vpsrlq"}
_EVEX |= {"vgf2p8affineqb", "vgf2p8mulb", "vpbroadcastq", "vpbroadcastd", "vbroadcasti32x4"}

JUMPS = frozenset({"je", "jne", "jb", "jae", "ja", "jbe"})
_NO_OP = re.compile(rb"[\x40-\x4f]?(?:\x90|\x0f\x1f[\x00-\x07\x40-\x47\x80-\x87\xc0-\xc7].*)", re.DOTALL)
_SIZES = {"byte": 1, "word": 2, "dword": 4, "qword": 8, "xmmword": 16, "ymmword": 32, "zmmword": 64}
_MEMORY = re.compile(r"(?:(\w+) ptr )?\[([^\]]+)\](?:\{1to(\d+)\})?")
_PART = re.compile(r"([+-]?)(\w+)(?:\*([1248]))?")
_VECTOR = re.compile(r"([xyz])mm(\d+)")


class Instruction(NamedTuple):
    """One instruction. vex: three-operand form. mask: write mask register, 0 for none."""

    name: str
    operands: tuple[Operand, ...]
    vex: bool
    mask: int
    zeroing: bool
    size: int
    features: frozenset[str]


Kind = TypeVar("Kind", General, Vector, Mask, Memory, int)


def only(op: Operand, kind: type[Kind], size: int = 0) -> Kind:
    """Return an operand of one kind and, if `size` is given, of this size. Raises Rejected for others."""
    if not isinstance(op, kind) or (size and getattr(op, "size", 0) != size):
        raise Rejected(f"another operand than {kind.__name__}: {op}")
    return op


def _general() -> dict[str, General]:
    found = {}
    for number, name in enumerate(GENERAL):
        found[name] = General(name, 8)
        if number < 8:
            short = name[1:]
            low = f"{short[0]}l" if short.endswith("x") else f"{short}l"
            found |= {f"e{short}": General(name, 4), short: General(name, 2), low: General(name, 1)}
        else:
            found |= {f"{name}{letter}": General(name, n) for letter, n in (("d", 4), ("w", 2), ("b", 1))}
    return found


_GENERAL = _general()


def _memory(text: str) -> Memory:
    found = _MEMORY.fullmatch(text)
    if found is None:
        raise Rejected(f"an operand {text}")
    base = index = ""
    factor, displacement = 1, 0
    for sign, part, times in _PART.findall(found[2].replace(" ", "")):
        if part[0].isdigit():
            displacement += int(part, 0) * (-1 if sign == "-" else 1)
        elif part not in (*GENERAL, "rip") or sign == "-":
            raise Rejected(f"an address {text}")
        elif times or base:
            if index:
                raise Rejected(f"an address {text}")
            index, factor = part, int(times or 1)
        else:
            base = part
    copies = int(found[3] or 1)
    return Memory(base, index, factor, displacement, _SIZES.get(found[1] or "", 0), copies)


def _operand(text: str) -> Operand:
    vector = _VECTOR.fullmatch(text)
    if vector:
        return Vector(int(vector[2]), {"x": 16, "y": 32, "z": 64}[vector[1]])
    if text in _GENERAL:
        return _GENERAL[text]
    if re.fullmatch(r"k[0-7]", text):
        return Mask(int(text[1]))
    if re.fullmatch(r"-?(0x[0-9a-f]+|[0-9]+)", text):
        value = int(text, 0)
        return value - (1 << 64) if value >> 63 == 1 else value
    return _memory(text)


def _unit(name: str, operands: tuple[Operand, ...], memory: Memory) -> int:
    """Return the factor of an EVEX displacement of one byte: the size of the memory operand."""
    if memory.copies > 1:
        return max(v.size for v in operands if isinstance(v, Vector)) // memory.copies
    return {"vbroadcasti32x4": 16, "vpbroadcastq": 8, "vpbroadcastd": 4}.get(
        name, max(v.size for v in operands if isinstance(v, Vector))
    )


def _scaled(name: str, operands: tuple[Operand, ...], code: bytes) -> tuple[Operand, ...]:
    """Return the operands of an EVEX instruction, with memory's displacement and size from the bytes."""
    out: list[Operand] = []
    for operand in operands:
        if isinstance(operand, Memory):
            unit = _unit(name, operands, operand)
            modrm, place = code[5], 7 if code[5] & 7 == 4 else 6
            if modrm >> 6 == 1:
                shown = int.from_bytes(code[place : place + 1], "little", signed=True) * unit
            elif modrm >> 6 == 2:
                shown = int.from_bytes(code[place : place + 4], "little", signed=True)
            elif modrm & 7 == 5 or (modrm & 7 == 4 and code[6] & 7 == 5):
                raise Rejected(f"{name} without a base register")
            else:
                shown = 0
            operand = operand._replace(displacement=shown, size=unit)
        out.append(operand)
    return tuple(out)


def _check_prefixes(name: str, operands: tuple[Operand, ...], code: bytes) -> None:
    """Raise Rejected for redundant prefixes, which CPUs may treat differently."""
    end = 0
    while code[end] in _LEGACY_PREFIXES:
        end += 1
    found = sorted(code[:end])
    if name == "nop":
        if not {0x66, 0x2E}.issuperset(found) or not _NO_OP.fullmatch(code[end:]):
            raise Rejected("another no-op")
        return
    wanted = set(TABLE[name].prefixes)
    if name == "movq" and code[end:].lstrip(bytes(range(0x40, 0x50)))[:2] == b"\x0f\x7e" and 0xF3 in found:
        wanted = {0xF3}
    if name == "mov" and any(isinstance(o, General) and o.size == 2 for o in operands):
        wanted = {0x66}
    if found != sorted(wanted) or (code[end] & 0xF0 == 0x40 and code[end + 1] & 0xF0 == 0x40):
        raise Rejected(f"{name} with prefixes that it does not need")
    if code[end] & 0xF0 == 0x40 and code[end + 1] in _LEGACY_PREFIXES:
        raise Rejected(f"{name} with a prefix behind REX")


def _check_fields(name: str, operands: tuple[Operand, ...], code: bytes) -> None:
    """Raise Rejected for VEX and EVEX prefixes that a CPU refuses: reserved bits, a register that the form
    does not have, rounding of integers (Intel SDM, volume 2, 2.3 and 2.7)."""
    if code[0] not in (0xC4, 0xC5, 0x62):
        return
    registers = sum(not isinstance(operand, int) for operand in operands)
    if registers < 3 and name != "vpsrlq" and code[1 if code[0] == 0xC5 else 2] & 0x78 != 0x78:
        raise Rejected(f"{name} with a third register")
    if code[0] == 0x62:
        copies = any(isinstance(operand, Memory) and operand.copies > 1 for operand in operands)
        third = registers >= 3 or name == "vpsrlq" or code[3] & 0x08
        if code[1] & 0x08 or not code[2] & 0x04 or code[3] & 0x60 == 0x60 or not third:
            raise Rejected(f"{name} with reserved bits")
        if bool(code[3] & 0x10) != copies:
            raise Rejected(f"{name} with rounding")


def _features(name: str, operands: tuple[Operand, ...], code: bytes) -> frozenset[str]:
    row = TABLE[name]
    width = max((o.size for o in operands if isinstance(o, Vector)), default=0)
    if code[0] != 0x62:
        return frozenset(row.wide if width == 32 and row.wide else row.features)
    features = {"AVX512F"} | ({"AVX512VL"} if width < 64 else set())
    features |= {"GFNI"} if "gf2p8" in name else set()
    features |= {"AVX512BW"} if name in _WORD_EVEX or "AVX512BW" in row.features else set()
    return frozenset(features)


_parsed: dict[tuple[str, str, bytes], Instruction] = {}


def parse(name: str, text: str, code: bytes) -> Instruction:
    """Return one instruction from capstone's text and its bytes. Raises Rejected."""
    key = name, text, code
    found = _parsed.get(key)
    if found is None:
        found = _parsed[key] = _parse(*key)
    return found


def _parse(name: str, text: str, code: bytes) -> Instruction:
    if name == "movabs":
        name = "mov"
    if name not in TABLE:
        raise Rejected(f"no semantics for {name} {text}")
    marks = re.findall(r"\{(k[1-7]|z)\}", text)
    bare = re.sub(r" ?\{(?:k[1-7]|z)\}", "", text)
    parts = [part.strip() for part in bare.split(",")] if bare else []
    operands = tuple(_operand(part) for part in parts)
    evex = code[0] == 0x62
    if evex and name not in _EVEX:
        raise Rejected(f"an EVEX form of {name}")
    _check_fields(name, operands, code)
    if evex:
        operands = _scaled(name, operands, code)
    _check_prefixes(name, operands, code)
    mask = next((int(mark[1]) for mark in marks if mark != "z"), 0)
    features = _features(name, operands, code)
    vex = code[0] in (0xC4, 0xC5, 0x62)
    return Instruction(name, operands, vex, mask, "z" in marks, len(code), features)


class Text:
    """The instructions of one function, by place."""

    def __init__(self, code: bytes, features: frozenset[str]) -> None:
        self._code, self._features = code, features
        self._decoder = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
        self._lines = {line[0]: line for line in self._decoder.disasm_lite(code, 0)}

    def at(self, ip: int) -> Instruction:
        """Return the instruction at a place. Raises Rejected outside of the function, and for instructions
        that the instruction set lacks."""
        line = self._lines.get(ip)
        if line is None and 0 <= ip < len(self._code):
            line = next(self._decoder.disasm_lite(self._code[ip : ip + 15], ip, 1), None)
        if line is None:
            raise Rejected(f"no instruction at {ip}")
        _, size, name, text = line
        found = parse(name, text, self._code[ip : ip + size])
        if not found.features <= self._features:
            raise Rejected(f"{name} needs {', '.join(sorted(found.features - self._features))}")
        return found
