"""Windows x64 unwind tables (.pdata, .xdata) of one function, read as RtlVirtualUnwind reads them.

Source: Microsoft, "x64 exception handling": RUNTIME_FUNCTION, UNWIND_INFO version 1 and the rules for
epilogues, which have no codes: they are recognised by the bytes of their instructions.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import NamedTuple

from gfsmith.prove.machine.formats.image import Function, Image
from gfsmith.prove.machine.x86.frame_rules import Rules, Step, UnsupportedTable

_GENERAL = ("rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", *(f"r{n}" for n in range(8, 16)))
_PUSH, _ALLOC_LARGE, _ALLOC_SMALL, _SET_FRAME, _SAVE, _SAVE_FAR = range(6)
_SAVE_XMM, _SAVE_XMM_FAR, _MACHINE_FRAME = 8, 9, 10
_CHAINED = 4
_OPERATION = {_SET_FRAME: "UWOP_SET_FPREG", _MACHINE_FRAME: "UWOP_PUSH_MACHFRAME"}


class _Effect(NamedTuple):
    """One unwind code: in force once the instruction that ends at `offset` has run.

    `kind` is "push" (of `register`), "alloc" (`amount` bytes) or "save" (`register` at rsp + `amount`).
    """

    offset: int
    kind: str
    register: str
    amount: int


@dataclass(frozen=True, slots=True)
class _Frames:
    """The unwind codes of one function; `effects` in the table's order, the last instruction first."""

    effects: list[_Effect]
    prologue: int
    code: bytes
    covered: range

    def at(self, step: Step) -> Rules | str:
        if step.offset not in self.covered:
            return "no unwind information here"
        if step.offset >= self.prologue:
            taken_down = _epilogue(self.code, step)
            if taken_down is not None:
                return taken_down
        rsp = -step.depth
        slots = {}
        for effect in self.effects:
            if effect.offset > step.offset:
                continue
            if effect.kind == "save":
                slots[effect.register] = effect.amount - step.depth
            elif effect.kind == "push":
                slots[effect.register] = rsp
                rsp += 8
            else:
                rsp += effect.amount
        return Rules(rsp + step.depth, slots, red_zone=False)


def find(image: Image, function: Function) -> _Frames | None:
    """Return the unwind information of a function, or None. Raises UnsupportedTable."""
    start = function.address - image.base
    found: list[tuple[int, int, int]] = []
    for segment in image.segments:
        if not segment.name.startswith(".pdata"):
            continue
        whole = len(segment.data) // 12 * 12
        for begin, end, info in struct.iter_unpack("<III", segment.data[:whole]):
            if begin < start + function.size and start < end:
                found.append((begin, end, info))
    if not found:
        return None
    code = image.read(function.address, function.size)
    if len(found) > 1 or found[0][0] != start or code is None:
        raise UnsupportedTable("not one entry of the table, which begins with the function")
    begin, end, info = found[0]
    effects, prologue = _codes(image, info)
    return _Frames(effects, prologue, code, range(end - begin))


def _codes(image: Image, info: int) -> tuple[list[_Effect], int]:
    """Return the codes and the length of the prologue in bytes, from UNWIND_INFO at a relative address."""
    head = image.read(image.base + info, 4)
    if head is None or info & 1:
        raise UnsupportedTable("the unwind information is not in the image")
    version, flags, prologue, count, frame = head[0] & 7, head[0] >> 3, head[1], head[2], head[3] & 15
    if version != 1:
        raise UnsupportedTable(f"UNWIND_INFO version {version}")
    if flags:
        kind = "chained unwind information" if flags & _CHAINED else "an exception handler"
        raise UnsupportedTable(kind)
    if frame:
        raise UnsupportedTable("a frame register")
    data = image.read(image.base + info + 4, 2 * count)
    if data is None:
        raise UnsupportedTable("the unwind codes are cut off")
    effects = []
    at = 0
    while at < len(data):
        effect, used = _code(data[at:])
        effects.append(effect)
        at += 2 * used
    return effects, prologue


def _code(data: bytes) -> tuple[_Effect, int]:
    """Return the first unwind code, and its size in units of two bytes."""
    offset, operation, info = data[0], data[1] & 15, data[1] >> 4
    short = int.from_bytes(data[2:4], "little")
    long = int.from_bytes(data[2:6], "little")
    vector = f"xmm{info}"
    if operation == _ALLOC_LARGE and info > 1:
        raise UnsupportedTable("UWOP_ALLOC_LARGE of an unknown kind")
    needed = {
        _ALLOC_LARGE: 2 + info,
        _SAVE: 2,
        _SAVE_FAR: 3,
        _SAVE_XMM: 2,
        _SAVE_XMM_FAR: 3,
    }.get(operation, 1)
    if len(data) < 2 * needed:
        raise UnsupportedTable("the unwind codes are cut off")
    match operation:
        case 0:
            effect = _Effect(offset, "push", _GENERAL[info], 8)
        case 1:
            effect = _Effect(offset, "alloc", "", long if info else 8 * short)
        case 2:
            effect = _Effect(offset, "alloc", "", 8 * info + 8)
        case 4:
            effect = _Effect(offset, "save", _GENERAL[info], 8 * short)
        case 5:
            effect = _Effect(offset, "save", _GENERAL[info], long)
        case 8:
            effect = _Effect(offset, "save", vector, 16 * short)
        case 9:
            effect = _Effect(offset, "save", vector, long)
        case _:
            raise UnsupportedTable(_OPERATION.get(operation, f"unwind code {operation}"))
    return effect, needed


#: An epilogue by its bytes: a constant is added to rsp, pops, then `ret`, `rep ret` or `jmp`.
_EPILOGUE = re.compile(
    rb"(?:\x48\x83\xc4(?P<short>.)|\x48\x81\xc4(?P<long>.{4}))?"
    rb"(?P<pops>(?:[\x40-\x4f]?[\x58-\x5f])*)"
    rb"(?:\xf3?\xc3|\xeb(?P<near>.)|\xe9(?P<far>.{4})|\xff\x25)",
    re.DOTALL,
)
_POP = re.compile(rb"([\x40-\x4f]?)([\x58-\x5f])")


def _epilogue(code: bytes, step: Step) -> Rules | None:
    """Return the rules of the epilogue (add rsp / pop* / ret) that starts at a step; None without one."""
    found = _EPILOGUE.match(code, step.offset)
    jump = None if found is None else found["near"] or found["far"]
    if found is None or (jump is not None and 0 <= found.end() + _signed(jump) < len(code)):
        return None
    rsp = _signed(found["short"] or found["long"] or b"\0") - step.depth
    slots: dict[str, int] = {}
    for prefix, pop in _POP.findall(found["pops"]):
        extension = 8 if prefix and prefix[0] & 1 else 0
        slots[_GENERAL[extension + pop[0] - 0x58]] = rsp
        rsp += 8
    return Rules(rsp + step.depth, slots, red_zone=False)


def _signed(number: bytes) -> int:
    return int.from_bytes(number, "little", signed=True)
