"""ELF relocations of AArch64 (Arm, ELF for the Arm 64-bit Architecture, IHI 0056, 5.7)."""

from __future__ import annotations

from elftools.elf.enums import ENUM_RELOC_TYPE_AARCH64

from gfsmith.prove.machine.aarch64.registers import MACHINE
from gfsmith.prove.machine.formats.image import Builder, ByteOrder, LoadError
from gfsmith.prove.machine.formats.relocation import Dynamic, Relocation, trimmed

_TYPE = {name: number for name, number in ENUM_RELOC_TYPE_AARCH64.items() if isinstance(number, int)}
_NONE = {0, 256}
#: Data: type -> (bytes, whether P is taken off).
_DATA = {
    _TYPE["R_AARCH64_ABS64"]: (8, False),
    _TYPE["R_AARCH64_ABS32"]: (4, False),
    _TYPE["R_AARCH64_PREL64"]: (8, True),
    _TYPE["R_AARCH64_PREL32"]: (4, True),
}
#: S + A - P in words, in a field of an instruction: type -> (bits, lowest bit).
_BRANCHES = {
    _TYPE["R_AARCH64_JUMP26"]: (26, 0),
    _TYPE["R_AARCH64_CALL26"]: (26, 0),
    _TYPE["R_AARCH64_CONDBR19"]: (19, 5),
    _TYPE["R_AARCH64_TSTBR14"]: (14, 5),
    _TYPE["R_AARCH64_LD_PREL_LO19"]: (19, 5),
}
_LDST128 = 299  # R_AARCH64_LDST128_ABS_LO12_NC is not in pyelftools
#: The low 12 bits of S + A, in units of the access: type -> log2 of its bytes.
_LOW = {
    _TYPE["R_AARCH64_ADD_ABS_LO12_NC"]: 0,
    _TYPE["R_AARCH64_LDST8_ABS_LO12_NC"]: 0,
    _TYPE["R_AARCH64_LDST16_ABS_LO12_NC"]: 1,
    _TYPE["R_AARCH64_LDST32_ABS_LO12_NC"]: 2,
    _TYPE["R_AARCH64_LDST64_ABS_LO12_NC"]: 3,
    _LDST128: 4,
}
_PAGE = _TYPE["R_AARCH64_ADR_PREL_PG_HI21"]
_NEAR = _TYPE["R_AARCH64_ADR_PREL_LO21"]
_SLOT_PAGE, _SLOT_LOW = _TYPE["R_AARCH64_ADR_GOT_PAGE"], _TYPE["R_AARCH64_LD64_GOT_LO12_NC"]


def _page(address: int) -> int:
    return address >> 12


def _set(build: Builder, place: int, value: int, bits: int, lowest: int, signed: bool) -> None:
    """Put a number into a field of the instruction at `place`. Raises LoadError if it does not fit."""
    low, high = (-(1 << bits - 1), 1 << bits - 1) if signed else (0, 1 << bits)
    if not low <= value < high:
        raise LoadError(f"{build.what}: a relocation at {place:#x} does not fit {bits} bits")
    mask = (1 << bits) - 1 << lowest
    word = build.value(place, 4) % (1 << 32) & ~mask | value << lowest & mask
    build.patch(place, 4, word, False)


def _set_address(build: Builder, place: int, value: int) -> None:
    """Set the immediate of adr or adrp: two low bits at bit 29, 19 bits at bit 5."""
    _set(build, place, value >> 2, 19, 5, True)
    _set(build, place, value & 3, 2, 29, False)


class AArch64Relocations:
    machine = MACHINE
    order: ByteOrder = "little"
    dynamic = Dynamic(
        0,
        _TYPE["R_AARCH64_RELATIVE"],
        frozenset({_TYPE["R_AARCH64_GLOB_DAT"], _TYPE["R_AARCH64_JUMP_SLOT"]}),
        _TYPE["R_AARCH64_ABS64"],
    )

    def trim(self, code: bytes) -> bytes:
        """Return the code without the nops and zeros at its end."""
        return trimmed(code, bytes(4), b"\x1f\x20\x03\xd5")

    def local_entry(self, other: int) -> int:
        return 0

    def is_via_slot(self, kind: int) -> bool:
        return kind in (_SLOT_PAGE, _SLOT_LOW)

    def part(self, kind: int) -> tuple[str, str, int]:
        if kind in (_PAGE, _SLOT_PAGE):
            return "high", "", 4
        if kind in _LOW or kind == _SLOT_LOW:
            return "low", "", 4
        if kind in _BRANCHES:
            return "relative", "place", 4
        if kind == _NEAR:
            return "whole", "", 4
        width, relative = _DATA.get(kind, (8, False))
        return "pointer" if width == 8 and not relative else "absolute", "", width

    def apply(self, build: Builder, relocation: Relocation) -> bool:
        kind, place, target, addend, number, name = relocation
        if kind in _NONE:
            return True
        if kind in (_SLOT_PAGE, _SLOT_LOW) and number:
            target = build.slot(number, name, target)
            kind = _PAGE if kind == _SLOT_PAGE else _TYPE["R_AARCH64_LDST64_ABS_LO12_NC"]
        if not (kind in _DATA or kind in _BRANCHES or kind in _LOW or kind in (_PAGE, _NEAR)):
            return False
        if target is None:
            build.hole(place, _DATA[kind][0] if kind in _DATA else 4, name)
        else:
            _apply(build, kind, place, target + addend)
        return True


def _apply(build: Builder, kind: int, place: int, goal: int) -> None:
    if kind in _DATA:
        width, relative = _DATA[kind]
        build.patch(place, width, goal - place if relative else goal, True if relative else None)
    elif kind in _BRANCHES:
        bits, lowest = _BRANCHES[kind]
        if (goal - place) % 4:
            raise LoadError(f"{build.what}: a relocation at {place:#x} is to the middle of an instruction")
        _set(build, place, (goal - place) // 4, bits, lowest, True)
    elif kind == _PAGE:
        _set_address(build, place, _page(goal) - _page(place))
    elif kind == _NEAR:
        _set_address(build, place, goal - place)
    else:
        scale = _LOW[kind]
        if goal % (1 << scale):
            raise LoadError(f"{build.what}: a relocation at {place:#x} is to an unaligned place")
        _set(build, place, goal % 4096 >> scale, 12 - scale, 10, False)
