"""ELF relocations of POWER (64-Bit ELF V2 ABI Specification, 3.5), little endian.

The linker chooses where the table of contents is. Code that finds it only by these relocations finds it
anywhere, so here it is at one place.
"""

from __future__ import annotations

from elftools.elf.enums import ENUM_RELOC_TYPE_PPC64

from gfsmith.prove.machine.formats.image import BASE, Builder, ByteOrder, LoadError
from gfsmith.prove.machine.formats.relocation import Dynamic, Relocation, trimmed
from gfsmith.prove.machine.power.registers import MACHINE

#: The address in r2, the pointer to the table of contents.
TOC = BASE + 0x8000
_TOC_SYMBOL = ".TOC."
_NOP = b"\x00\x00\x00\x60"
_TYPE = {name: number for name, number in ENUM_RELOC_TYPE_PPC64.items() if isinstance(number, int)}
_NONE = _TYPE["R_PPC64_NONE"]
_CALL = _TYPE["R_PPC64_REL24"]
#: S + A, less P if so: type -> (bytes, whether P is taken off).
_DATA = {
    _TYPE["R_PPC64_ADDR64"]: (8, False),
    _TYPE["R_PPC64_ADDR32"]: (4, False),
    _TYPE["R_PPC64_REL64"]: (8, True),
    _TYPE["R_PPC64_REL32"]: (4, True),
}
_LOW, _HIGH, _ADJUSTED = (0, False), (16, False), (16, True)  #: bits shifted off, and whether rounded
#: 16 bits of S + A - TOC.
_FROM_TOC = {
    _TYPE["R_PPC64_TOC16"]: _LOW,
    _TYPE["R_PPC64_TOC16_LO"]: _LOW,
    _TYPE["R_PPC64_TOC16_DS"]: _LOW,
    _TYPE["R_PPC64_TOC16_LO_DS"]: _LOW,
    _TYPE["R_PPC64_TOC16_HI"]: _HIGH,
    _TYPE["R_PPC64_TOC16_HA"]: _ADJUSTED,
}
#: 16 bits of S + A - P.
_FROM_HERE = {
    _TYPE["R_PPC64_REL16"]: _LOW,
    _TYPE["R_PPC64_REL16_LO"]: _LOW,
    _TYPE["R_PPC64_REL16_HI"]: _HIGH,
    _TYPE["R_PPC64_REL16_HA"]: _ADJUSTED,
}
#: All of the 16 bits must do, not only their end.
_WHOLE = {_TYPE["R_PPC64_TOC16"], _TYPE["R_PPC64_TOC16_DS"], _TYPE["R_PPC64_REL16"]}
#: The two lowest bits belong to the instruction.
_IN_FOURS = {_TYPE["R_PPC64_TOC16_DS"], _TYPE["R_PPC64_TOC16_LO_DS"]}


class PowerRelocations:
    machine = MACHINE
    order: ByteOrder = "little"
    dynamic = Dynamic(
        _NONE,
        _TYPE["R_PPC64_RELATIVE"],
        frozenset({_TYPE["R_PPC64_GLOB_DAT"], _TYPE["R_PPC64_JMP_SLOT"]}),
        _TYPE["R_PPC64_ADDR64"],
    )

    def trim(self, code: bytes) -> bytes:
        """Return the code without the nops and zeros at its end."""
        return trimmed(code, bytes(4), _NOP)

    def local_entry(self, other: int) -> int:
        return (1 << other >> 2) << 2  # 3.4.1

    def is_via_slot(self, kind: int) -> bool:
        return False

    def part(self, kind: int) -> tuple[str, str, int]:
        if kind in _FROM_TOC or kind in _FROM_HERE:
            origin = "toc" if kind in _FROM_TOC else "place"
            if kind in _WHOLE:
                return "whole", origin, 2
            return ("high" if (_FROM_TOC | _FROM_HERE)[kind] == _ADJUSTED else "low"), origin, 2
        if kind == _CALL:
            return "relative", "place", 4
        width, relative = _DATA.get(kind, (8, False))
        return "pointer" if width == 8 and not relative else "absolute", "", width

    def apply(self, build: Builder, relocation: Relocation) -> bool:
        kind, place, target, addend, _, name = relocation
        if kind == _NONE:
            return True
        if kind not in _DATA and kind not in _FROM_TOC and kind not in _FROM_HERE and kind != _CALL:
            return False
        if name == _TOC_SYMBOL:
            target = TOC
        if target is None:
            build.hole(place, _DATA[kind][0] if kind in _DATA else 4, name)
        else:
            _apply(build, kind, place, target + addend)
        return True


def _apply(build: Builder, kind: int, place: int, goal: int) -> None:
    if kind in _DATA:
        width, relative = _DATA[kind]
        build.patch(place, width, goal - place if relative else goal, True if relative else None)
    elif kind == _CALL:
        _set(build, place, 4, goal - place, 26, 0x03FFFFFC)
    else:
        value = goal - (TOC if kind in _FROM_TOC else place)
        shift, rounded = (_FROM_TOC | _FROM_HERE)[kind]
        if not -(1 << 31) <= value < (1 << 31) - 0x8000:
            raise LoadError(f"{build.what}: a relocation at {place:#x} does not fit 32 bits")
        value = value + 0x8000 * rounded >> shift
        if kind not in _WHOLE:
            value = (value + 0x8000) % (1 << 16) - 0x8000
        _set(build, place, 2, value, 16, 0xFFFC if kind in _IN_FOURS else 0xFFFF)


def _set(build: Builder, place: int, size: int, value: int, bits: int, mask: int) -> None:
    """Put a signed number of some bits into the field `mask`. Raises LoadError if it does not fit."""
    half = 1 << bits - 1
    if not -half <= value < half or value % (1 << bits) & ~mask:
        raise LoadError(f"{build.what}: a relocation at {place:#x} does not fit its instruction")
    old = build.value(place, size) % (1 << 8 * size)
    build.patch(place, size, old & ~mask | value & mask, False)
