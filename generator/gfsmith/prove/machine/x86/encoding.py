"""Instruction encodings that every x86-64 CPU decodes alike.

Intel's and AMD's CPUs differ for some redundant prefixes: an operand-size prefix changes a near branch on
AMD, and Intel ignores it (Intel SDM, volume 2, "Jcc"; AMD APM, volume 3, 1.2.4). Other prefixes are reserved
for later meanings. So an instruction is supported only if it has exactly the prefixes that its form requires,
each once, and REX directly before the opcode.
"""

from __future__ import annotations

from functools import lru_cache

from iced_x86 import Code, EncodingKind, MandatoryPrefix, OpCodeInfo
from iced_x86 import Instruction as Raw

OPERAND_SIZE, ADDRESS_SIZE = 0x66, 0x67
REPEAT_NOT_EQUAL, REPEAT = 0xF2, 0xF3
SEGMENTS = frozenset({0x26, 0x2E, 0x36, 0x3E, 0x64, 0x65})
LOCK = 0xF0
#: Legacy prefixes (Intel SDM, volume 2, 2.1.1).
LEGACY = SEGMENTS | {OPERAND_SIZE, ADDRESS_SIZE, REPEAT_NOT_EQUAL, REPEAT, LOCK}
_MANDATORY = {
    MandatoryPrefix.P66: OPERAND_SIZE,
    MandatoryPrefix.PF3: REPEAT,
    MandatoryPrefix.PF2: REPEAT_NOT_EQUAL,
}
_REX = range(0x40, 0x50)
#: No-ops, which assemblers lengthen by prefixes that have no effect on them.
_NO_OPS = frozenset({Code.NOPD, Code.NOPW, Code.NOPQ, Code.NOP_RM16, Code.NOP_RM32, Code.NOP_RM64})
_HARMLESS = frozenset({OPERAND_SIZE, 0x2E})

#: Near branches of 64-bit mode.
JUMPS = frozenset({Code.JMP_REL8_64, Code.JMP_REL32_64})
BRANCHES = frozenset(
    getattr(Code, f"J{condition}_REL{width}_64")
    for condition in ("B", "AE", "BE", "A", "E", "NE", "L", "GE", "LE", "G", "S", "NS")
    for width in (8, 32)
)
RETURNS = frozenset({Code.RETNQ})
PUSHES = frozenset({Code.PUSH_R64})
POPS = frozenset({Code.POP_R64})
LEAVES = frozenset({Code.LEAVEQ})
LANDINGS = frozenset({Code.ENDBR64})
FILLING = _NO_OPS | {Code.INT3}


@lru_cache(maxsize=1024)
def _demanded(code: int) -> tuple[int, ...]:
    """Return the legacy prefixes that an instruction form requires, in ascending order."""
    info = OpCodeInfo(code)  # type: ignore[arg-type]
    if info.encoding != EncodingKind.LEGACY:
        return ()
    found = {_MANDATORY[info.mandatory_prefix]} if info.mandatory_prefix in _MANDATORY else set[int]()
    if info.operand_size == 16:
        found.add(OPERAND_SIZE)
    return tuple(sorted(found))


def prefixes(code: bytes) -> tuple[bytes, bool]:
    """Return the legacy prefixes of an instruction, and whether one follows a REX prefix."""
    end = 0
    while end < len(code) and code[end] in LEGACY:
        end += 1
    broken = end + 1 < len(code) and code[end] in _REX and (code[end + 1] in LEGACY or code[end + 1] in _REX)
    return code[:end], broken


def irregular(raw: Raw, code: bytes) -> bool:
    """Return True if the first instruction of `code` has other prefixes than its form requires."""
    if code[0] not in LEGACY and code[0] not in _REX:
        return bool(_demanded(raw.code)) and raw.code not in _NO_OPS
    found, broken = prefixes(code[: raw.len])
    if broken:
        return True
    if raw.code in _NO_OPS:
        return not _HARMLESS.issuperset(found)
    return tuple(sorted(found)) != _demanded(raw.code)
