"""AArch64 instructions, decoded with capstone: the form and the operands, for the semantics tables.

A form is the mnemonic and the shapes of the operands:

    x, w            general registers (sp and zr among them); "x lsl", "w uxtw": shifted, extended
    q, d, s, h, b   a vector register's low bytes, the rest being cleared
    16b, 2d, ...    a vector of elements; d[]: one of its elements
    #               an immediate, or an address in the code
    [x]             memory at register + displacement; [x]! moves the register before, [x], # after
    [x x], [x x lsl], [x w uxtw]: with an index register

scalable.py has the shapes of SVE. capstone 5 leaves out some elements of vectors, and that st1 moves its
base: these are read from its text.
Examples: "add x x #", "ldp q q [x]", "ldr x [x], #", "tbl 16b 16b 16b" (without braces).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import capstone
from capstone import arm64

from gfsmith.prove.machine.aarch64.registers import VECTOR_BYTES
from gfsmith.prove.machine.linear import Word

#: Vector registers in the text of an instruction: number, elements (none for a single element), lane.
_VECTOR = re.compile(r"\bv(\d+)\.(\d*)([bhsdq])(?:\[(\w+)\]|(?=\}\[(\w+)\])|)")
#: The text after the base and offset of an address: `!`, or the amount of a post-increment.
_MOVED = re.compile(r"\](?:(!)|, #(-?\w+)|)$")
_SHIFT = {arm64.ARM64_SFT_LSL: "lsl", arm64.ARM64_SFT_LSR: "lsr", arm64.ARM64_SFT_ASR: "asr"}
#: The shape of an immediate by its shift: `msl`, which shifts ones in, is none that has a meaning.
_IMMEDIATE = {arm64.ARM64_SFT_INVALID: "#", arm64.ARM64_SFT_LSL: "#", arm64.ARM64_SFT_MSL: "# msl"}
_EXTEND = {
    getattr(arm64, f"ARM64_EXT_{name.upper()}"): name
    for name in ("uxtb", "uxth", "uxtw", "uxtx", "sxtb", "sxth", "sxtw", "sxtx")
}
_CONDITION = {
    getattr(arm64, f"ARM64_CC_{name.upper()}"): name
    for name in ("eq", "ne", "hs", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le")
}
_UMULH = "umulh"
_SCALAR = {"q": 16, "d": 8, "s": 4, "h": 2, "b": 1}
ELEMENT = {"b": 1, "h": 2, "s": 4, "d": 8, "q": 16}
_GENERAL = frozenset(
    {*(f"{kind}{n}" for kind in "xw" for n in range(31)), "sp", "wsp", "xzr", "wzr", "fp", "lr"}
)


class General(NamedTuple):
    """The low `size` bytes of a general register, shifted left by `shift`. extended: extended to 64 bits
    before the shift. name "zr": zero."""

    name: str
    size: int
    shift: int = 0
    extended: bool = False


class Vector(NamedTuple):
    """The low `size` bytes of a vector register, in elements of `element` bytes. lane: one of the
    elements."""

    number: int
    size: int
    element: int
    lane: int | None = None


class Immediate(NamedTuple):
    """A number, to be shifted left by `shift` bits."""

    number: int
    shift: int = 0

    @property
    def value(self) -> int:
        return self.number << self.shift


class Place(NamedTuple):
    """Memory at base + offset << shift + displacement.

    before, after: the amount added to the base before or after the access.
    """

    base: General
    offset: General | None
    displacement: Word
    before: int = 0
    after: int = 0


class Scalable(NamedTuple):
    """A scalable vector register, in elements of `element` bytes; 0: whole."""

    number: int
    element: int


class Predicate(NamedTuple):
    """A predicate register, which has a bit for each byte of a scalable vector."""

    number: int


Operand = General | Vector | Immediate | Place | Scalable | Predicate


class Decoded(NamedTuple):
    """An instruction: its form, operands, condition (eq, lo, ...) and text."""

    mnemonic: str
    form: str
    operands: tuple[Operand, ...]
    condition: str
    address: int
    text: str

    def __str__(self) -> str:
        return self.text


@lru_cache(maxsize=1)
def _capstone() -> capstone.Cs:
    decoder = capstone.Cs(capstone.CS_ARCH_ARM64, capstone.CS_MODE_LITTLE_ENDIAN)
    decoder.detail = True
    return decoder


@lru_cache(maxsize=1 << 16)
def decode(code: bytes, address: int) -> Decoded | None:
    """Return the instruction in four bytes; None if capstone cannot decode it, or decodes other operands."""
    found: Any = next(_capstone().disasm(code[:4], address, 1), None)
    if found is None or (found.mnemonic == _UMULH and not _has_no_third(code)):
        return None
    shapes: list[str] = []
    operands: list[Operand] = []
    vectors = _VECTOR.finditer(found.op_str)
    for operand in found.operands:
        if operand.type == arm64.ARM64_OP_MEM:
            moved = _MOVED.search(found.op_str)
            if moved is None:
                return None
            shape, place = _place(found, operand, moved)
            shapes.append(shape)
            operands.append(place)
        elif operands and isinstance(operands[-1], Place):
            if operand.type != arm64.ARM64_OP_IMM or operands[-1].after != operand.imm:
                return None
        elif operand.type == arm64.ARM64_OP_IMM:
            shapes.append(_IMMEDIATE.get(operand.shift.type, "?"))
            operands.append(Immediate(operand.imm, operand.shift.value if operand.shift.type else 0))
        elif operand.type == arm64.ARM64_OP_REG:
            shape, register = _register(found.reg_name(operand.reg), operand, vectors)
            shapes.append(shape)
            operands.append(register)
        else:
            return None
    condition = _CONDITION.get(found.cc, "")
    mnemonic = found.mnemonic.partition(".")[0]
    form = " ".join([mnemonic, *shapes])
    text = f"{found.mnemonic} {found.op_str}".rstrip()
    return Decoded(mnemonic, form, tuple(operands), condition, address, text)


def _has_no_third(code: bytes) -> bool:
    """Return whether the field of a third source has ones, without which the effect is unpredictable (Arm
    ARM, C6.2, umulh)."""
    return int.from_bytes(code[:4], "little") >> 10 & 31 == 31


def _general(name: str, operand: Any) -> tuple[str, General]:
    """Return the operand for x0-x30, w0-w30, sp, wsp, xzr or wzr, with a shift or an extension. A register of
    another kind has a shape without a meaning."""
    if name not in _GENERAL:
        return "?", General("zr", 8)
    narrow = name.startswith("w")
    full = {"wsp": "sp", "sp": "sp", "wzr": "zr", "xzr": "zr", "fp": "x29", "lr": "x30"}
    register = full.get(name) or f"x{name[1:]}"
    shape = "w" if narrow else "x"
    shift = operand.shift.value if operand.shift.type else 0
    if operand.ext:
        shape += f" {_EXTEND.get(operand.ext, '?')}"
    elif operand.shift.type:
        shape += f" {_SHIFT.get(operand.shift.type, '?')}"
    return shape, General(register, 4 if narrow else 8, shift, bool(operand.ext))


def _register(name: str, operand: Any, vectors: Iterator[re.Match[str]]) -> tuple[str, Operand]:
    """vectors: those that the text still has."""
    if name[0] == "v":
        found = next(vectors, None)
        if found is None or found[1] != name[1:]:
            return "?", Vector(0, 0, 0)
        count, kind, lane = found[2], found[3], found[4] or found[5]
        element = ELEMENT[kind]
        if lane is not None:
            return f"{kind}[]", Vector(int(found[1]), VECTOR_BYTES, element, int(lane, 0))
        return count + kind, Vector(int(found[1]), int(count or 0) * element, element)
    if name[0] in _SCALAR and name[1:].isdigit():
        size = _SCALAR[name[0]]
        return name[0], Vector(int(name[1:]), size, size)
    return _general(name, operand)


def _place(found: Any, operand: Any, moved: re.Match[str]) -> tuple[str, Place]:
    """Return a memory operand. The text of the instruction determines whether the access changes its base."""
    memory = operand.mem
    kind, base = _general(found.reg_name(memory.base), _PLAIN)
    if kind != "x":
        return "?", Place(base, None, 0)
    after = int(moved[2], 0) if moved[2] else 0
    after -= 1 << 64 if after >> 63 > 0 else 0
    if memory.index:
        shape, offset = _general(found.reg_name(memory.index), operand)
        return f"[x {shape}]" + ("?" if moved[1] or after else ""), Place(base, offset, memory.disp)
    if moved[1]:
        return "[x]!", Place(base, None, 0, before=memory.disp)
    return "[x]" + (", #" if after else ""), Place(base, None, memory.disp, after=after)


class _NoShift(NamedTuple):
    type: int = 0
    value: int = 0


class _Plain(NamedTuple):
    """An operand without shift and extension."""

    shift: _NoShift = _NoShift()
    ext: int = 0


_PLAIN = _Plain()
