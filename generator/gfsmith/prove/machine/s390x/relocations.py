"""ELF relocations of s390x (ELF Application Binary Interface s390x Supplement, 2.5), big endian."""

from __future__ import annotations

from elftools.elf.enums import ENUM_RELOC_TYPE_S390X

from gfsmith.prove.machine.formats.image import Builder, ByteOrder, LoadError
from gfsmith.prove.machine.formats.relocation import Dynamic, Relocation
from gfsmith.prove.machine.s390x.registers import MACHINE

_NOP = b"\x07\x07"
_TYPE = {name: number for name, number in ENUM_RELOC_TYPE_S390X.items() if isinstance(number, int)}
_NONE = _TYPE["R_390_NONE"]
#: S + A, less P if so: type -> (bytes, whether P is taken off).
_DATA = {
    _TYPE["R_390_64"]: (8, False),
    _TYPE["R_390_32"]: (4, False),
    _TYPE["R_390_PC64"]: (8, True),
    _TYPE["R_390_PC32"]: (4, True),
}
#: (S + A - P) / 2 in four bytes of an instruction, which begins two bytes before P.
_HALVES = {_TYPE["R_390_PC32DBL"], _TYPE["R_390_PLT32DBL"]}


class S390xRelocations:
    machine = MACHINE
    order: ByteOrder = "big"
    dynamic = Dynamic(
        _NONE,
        _TYPE["R_390_RELATIVE"],
        frozenset({_TYPE["R_390_GLOB_DAT"], _TYPE["R_390_JMP_SLOT"]}),
        _TYPE["R_390_64"],
    )

    def trim(self, code: bytes) -> bytes:
        """Return the code without the nops and zeros at its end."""
        end = len(code) // 2 * 2
        while end and code[end - 2 : end] in (_NOP, bytes(2)):
            end -= 2
        return code[:end]

    def local_entry(self, other: int) -> int:
        return 0

    def is_via_slot(self, kind: int) -> bool:
        return False

    def part(self, kind: int) -> tuple[str, str, int]:
        if kind in _HALVES:
            return "relative", "place", 4
        width, relative = _DATA.get(kind, (8, False))
        return "pointer" if width == 8 and not relative else "absolute", "", width

    def apply(self, build: Builder, relocation: Relocation) -> bool:
        kind, place, target, addend, _, name = relocation
        if kind == _NONE:
            return True
        if kind not in _DATA and kind not in _HALVES:
            return False
        width, relative = _DATA.get(kind, (4, True))
        if target is None:
            build.hole(place, width, name)
            return True
        value = target + addend - (place if relative else 0)
        if kind in _HALVES:
            if value % 2:
                raise LoadError(f"{build.what}: a relocation at {place:#x} is to an odd place")
            value //= 2
        build.patch(place, width, value, True if relative else None)
        return True
