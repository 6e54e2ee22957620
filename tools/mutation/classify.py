"""Classes of proved mutants: rules over the instructions in which a mutant differs from the original."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum

from iced_x86 import FlowControl, Instruction, Mnemonic, Register, RegisterExt

from tools.mutation.mutants import decode


class Class(Enum):
    """The reason why a proved mutant is a correct kernel; CRASH and OTHER are not reasons."""

    REFUTED = "refuted"
    UNSUPPORTED = "unsupported"
    ENCODING = "same instructions, other encoding"
    PADDING = "no-op changed"
    PREFETCH = "prefetch changed"
    SYNONYM = "same effect, other name"
    SIZE = "same value, other operand size"
    BOUND = "other branch or bound"
    IGNORED = "bits of an immediate that the CPU ignores"
    LANES = "other bytes only where none are stored"
    UNNEEDED = "instruction that nothing needs"
    REVIEWED = "reviewed by hand"
    OTHER = "other"
    CRASH = "crash of the prover"


EQUIVALENT = frozenset(Class) - {Class.REFUTED, Class.UNSUPPORTED, Class.OTHER, Class.CRASH}

_SYNONYMS = (
    frozenset({"movdqu", "movups", "movupd", "movdqa", "movaps", "movapd", "lddqu"}),
    frozenset({"vmovdqu", "vmovups", "vmovupd", "vmovdqa", "vmovaps", "vmovapd", "vlddqu"}),
    frozenset({"vmovdqu8", "vmovdqu16", "vmovdqu32", "vmovdqu64", "vmovdqa32", "vmovdqa64"}),
    frozenset({"vpxord", "vpxorq", "vpxor"}),
    frozenset({"vpternlogd", "vpternlogq"}),
    frozenset({"vpandd", "vpandq", "vpand"}),
    frozenset({"vpbroadcastq", "vbroadcastsd"}),
)
_COMMUTATIVE = frozenset({"test", "pxor", "vpxor", "vpxord", "vpxorq", "pand", "vpand", "vpandd", "vpandq"})
_COMPARISONS = frozenset({Mnemonic.CMP, Mnemonic.TEST, Mnemonic.SUB, Mnemonic.AND, Mnemonic.OR})
_PREFETCHES = frozenset({Mnemonic.PREFETCHT0, Mnemonic.PREFETCHT1, Mnemonic.PREFETCHT2, Mnemonic.PREFETCHNTA})
#: Bits of the immediate that have a meaning.
_MEANT = {
    "pinsrw": 7,
    "vpinsrw": 7,
    "pextrw": 7,
    "vpextrw": 7,
    "vinserti128": 1,
    "vextracti128": 1,
    "vextracti32x4": 1,
    "vextracti64x4": 1,
    "pclmulqdq": 0x11,
    "vpclmulqdq": 0x11,
    "shl": 63,
    "shr": 63,
    **dict.fromkeys(("pinsrq", "vpinsrq", "pextrq", "vpextrq"), 1),
}
#: Names of pclmulqdq with an immediate: its low bit is that of the first word.
_WORDS = {"lqlq": "0", "hqlq": "1", "lqhq": "10h", "hqhq": "11h"}
_XOR_OF_THREE = "96h"
_INSERTIONS = frozenset({"vpinsrw", "vpinsrd", "vmovhps"})
#: Moves that differ only in size.
_WIDE = {"movd": "movq", "vmovd": "vmovq"}
_BRANCHES = (FlowControl.CONDITIONAL_BRANCH, FlowControl.UNCONDITIONAL_BRANCH)


def difference(before: bytes, after: bytes) -> tuple[list[Instruction], list[Instruction]]:
    """Return the instructions of each side that the other side lacks at the same offset."""
    old, new = ({i.ip: i for i in decode(code)} for code in (before, after))
    places = {ip for ip in old.keys() | new.keys() if _text(old.get(ip)) != _text(new.get(ip))}
    return [i for ip, i in old.items() if ip in places], [i for ip, i in new.items() if ip in places]


def _text(instr: Instruction | None) -> str:
    return "" if instr is None else str(instr)


def classify(original: bytes, mutant: bytes) -> Class:
    """Return the class of a proved mutant."""
    before, after = difference(original, mutant)
    if not before and not after:
        return Class.ENCODING
    if all(map(_idle, before)) and all(map(_idle, after)):
        touched = any(i.mnemonic in _PREFETCHES for i in (*before, *after))
        return Class.PREFETCH if touched else Class.PADDING
    old, new = (effective(side) for side in (before, after))
    if len(old) == 1 and len(new) == 1:
        found = next(_pair(old[0], new[0]), None)
        if found is not None:
            return found
    return Class.OTHER


def _idle(instr: Instruction) -> bool:
    return instr.mnemonic == Mnemonic.NOP or instr.mnemonic in _PREFETCHES


def effective(side: list[Instruction]) -> list[Instruction]:
    return [i for i in side if i.mnemonic != Mnemonic.NOP]


def _pair(old: Instruction, new: Instruction) -> Iterator[Class]:
    """Yield the classes that explain the replacement of one instruction by another."""
    name, operands = _split(old)
    other, changed = _split(new)
    if _sorted(name, operands) == _sorted(other, changed) or (
        operands == changed and any({name, other} <= group for group in _SYNONYMS)
    ):
        yield Class.SYNONYM
    if old.flow_control in _BRANCHES and new.flow_control in _BRANCHES:
        yield Class.BOUND
    if {old.mnemonic, new.mnemonic} <= _COMPARISONS and old.op0_register == new.op0_register:
        yield Class.BOUND
    if _WIDE.get(name, name) == _WIDE.get(other, other) and _full(operands) == _full(changed):
        yield Class.SIZE
    if name == other and _without_ignored(name, operands) == _without_ignored(name, changed):
        yield Class.IGNORED
    if name == other and _stored_lanes(name, operands) == _stored_lanes(name, changed):
        yield Class.LANES


def _split(instr: Instruction) -> tuple[str, str]:
    name, _, operands = str(instr).partition(" ")
    product = re.fullmatch(r"(v?pclmul)([hl]q[hl]q)dq", name)
    if product:
        return f"{product[1]}qdq", f"{operands},{_WORDS[product[2]]}"
    return name, operands


def _sorted(name: str, operands: str) -> tuple[str, list[str]]:
    """Return the operands in a canonical order: the sources of a commutative instruction are sorted."""
    parts = operands.split(",")
    if name == "test":
        return name, sorted(parts)
    if name in _COMMUTATIVE and len(parts) == 3:
        return name, [parts[0], *sorted(parts[1:])]
    if name == "vpclmulqdq" and parts[-1] in (_WORDS["lqlq"], _WORDS["hqhq"]):
        return name, [parts[0], *sorted(parts[1:-1]), parts[-1]]
    if name in ("vpternlogd", "vpternlogq") and parts[-1] == _XOR_OF_THREE:
        return name, [parts[0], *sorted(parts[1:-1]), parts[-1]]
    return name, parts


_GENERAL = {
    str(name).lower(): RegisterExt.full_register(value)  # type: ignore[arg-type]
    for name, value in vars(Register).items()
    if name.isupper() and isinstance(value, int) and RegisterExt.is_gpr(value)  # type: ignore[arg-type]
}


def _full(operands: str) -> str:
    """Return operands with general registers named by their 64 bits, and vectors by their number."""
    text = re.sub(r"[a-z0-9]+", lambda m: str(_GENERAL.get(m[0], m[0])), operands)
    return re.sub(r"\b[xyz]mm(\d+)", r"v\1", text)


def _without_ignored(name: str, operands: str) -> str:
    """Return operands with the immediate reduced to the bits that have a meaning (Intel SDM, volume 2)."""
    before, _, immediate = operands.rpartition(",")
    bits = _MEANT.get(name)
    if bits is None:
        return operands
    return f"{before},{int(immediate.rstrip('h'), 16 if immediate.endswith('h') else 10) & bits}"


def _stored_lanes(name: str, operands: str) -> str:
    """Return operands without the write mask, and without the register whose other words an insertion
    keeps."""
    text = re.sub(r"\{(k\d|z)\}", "", operands)
    parts = text.split(",")
    return ",".join([parts[0], *parts[2:]]) if name in _INSERTIONS else text
