"""ELF relocations of x86-64 (System V ABI for AMD64, 4.4.1)."""

from __future__ import annotations

from elftools.elf.enums import ENUM_RELOC_TYPE_x64

from gfsmith.prove.machine.formats.image import Builder, ByteOrder
from gfsmith.prove.machine.formats.relocation import Dynamic, Relocation
from gfsmith.prove.machine.x86.padding import MACHINE, without_filling

_TYPE = {name: number for name, number in ENUM_RELOC_TYPE_x64.items() if isinstance(number, int)}
#: S + A: type -> (bytes, signed).
_ABSOLUTE = {
    _TYPE["R_X86_64_64"]: (8, None),
    _TYPE["R_X86_64_32"]: (4, False),
    _TYPE["R_X86_64_32S"]: (4, True),
    _TYPE["R_X86_64_16"]: (2, None),
    _TYPE["R_X86_64_8"]: (1, None),
}
#: S + A - P: type -> bytes.
_RELATIVE = {
    _TYPE["R_X86_64_PC64"]: 8,
    _TYPE["R_X86_64_PC32"]: 4,
    _TYPE["R_X86_64_PLT32"]: 4,
    _TYPE["R_X86_64_PC16"]: 2,
    _TYPE["R_X86_64_PC8"]: 1,
}
#: G + A - P, four bytes, where G is the address of a pointer to the symbol.
_GOTPCRELX, _REX_GOTPCRELX = 41, 42  # not in pyelftools
_VIA_SLOT = {_TYPE["R_X86_64_GOTPCREL"], _GOTPCRELX, _REX_GOTPCRELX}
_NONE = _TYPE["R_X86_64_NONE"]


class X86Relocations:
    machine = MACHINE
    order: ByteOrder = "little"
    dynamic = Dynamic(
        _NONE,
        _TYPE["R_X86_64_RELATIVE"],
        frozenset({_TYPE["R_X86_64_GLOB_DAT"], _TYPE["R_X86_64_JUMP_SLOT"]}),
        _TYPE["R_X86_64_64"],
    )

    def trim(self, code: bytes) -> bytes:
        return without_filling(code)

    def local_entry(self, other: int) -> int:
        return 0

    def is_via_slot(self, kind: int) -> bool:
        return kind in _VIA_SLOT

    def part(self, kind: int) -> tuple[str, str, int]:
        if kind in _VIA_SLOT:
            return "relative", "place", 4
        if kind in _RELATIVE:
            return "relative" if _RELATIVE[kind] == 4 else "absolute", "place", _RELATIVE[kind]
        width = _ABSOLUTE[kind][0] if kind in _ABSOLUTE else 8
        return "pointer" if width == 8 else "absolute", "", width

    def apply(self, build: Builder, relocation: Relocation) -> bool:
        kind, place, target, addend, index, name = relocation
        if kind == _NONE:
            return True
        if kind in _VIA_SLOT and index:
            slot = build.slot(index, name, target)
            build.patch(place, 4, slot + addend - place, True)
            return True
        if kind in _ABSOLUTE:
            width, signed = _ABSOLUTE[kind]
            origin = 0
        elif kind in _RELATIVE:
            width, signed, origin = _RELATIVE[kind], True, place
        else:
            return False
        if target is None:
            build.hole(place, width, name)
        else:
            build.patch(place, width, target + addend - origin, signed)
        return True
