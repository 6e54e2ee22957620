"""ELF relocations of RISC-V (RISC-V ELF psABI Specification 1.0, 8.4), little endian.

Linkers may shorten code whose relocations are marked by R_RISCV_RELAX. The proof is about the file's code;
it takes for granted that the linker keeps its meaning.
"""

from __future__ import annotations

from gfsmith.prove.machine.formats.image import Builder, ByteOrder, LoadError
from gfsmith.prove.machine.formats.relocation import Dynamic, Relocation
from gfsmith.prove.machine.riscv.registers import MACHINE

_NONE, _WORD, _DOUBLEWORD, _RELATIVE, _JUMP_SLOT = 0, 1, 2, 3, 5
_BRANCH, _JUMP, _CALL, _CALL_PLT = 16, 17, 18, 19
_SLOT, _HIGH, _LOW = 20, 23, 24  #: R_RISCV_GOT_HI20, R_RISCV_PCREL_HI20, R_RISCV_PCREL_LO12_I
_SHORT_BRANCH, _SHORT_JUMP, _RELAX = 44, 45, 51
_NEAR = 57  #: R_RISCV_32_PCREL
#: Data that a reader finds out only from the final places: type -> bytes. Unwind tables consist of these.
_COMPUTED = {33: 1, 34: 2, 35: 4, 36: 8, 37: 1, 38: 2, 39: 4, 40: 8, 52: 1, 53: 1, 54: 1, 55: 2, 56: 4}
#: The fields of a distance in an instruction, (its lowest bit, bits, place in the instruction), its bytes
#: and bits.
_Fields = tuple[tuple[int, int, int], ...]
_DISTANCES: dict[int, tuple[int, int, _Fields]] = {
    _BRANCH: (4, 13, ((11, 1, 7), (1, 4, 8), (5, 6, 25), (12, 1, 31))),
    _JUMP: (4, 21, ((12, 8, 12), (11, 1, 20), (1, 10, 21), (20, 1, 31))),
    _SHORT_BRANCH: (2, 9, ((5, 1, 2), (1, 2, 3), (6, 2, 5), (3, 2, 10), (8, 1, 12))),
    _SHORT_JUMP: (
        2,
        12,
        ((5, 1, 2), (1, 3, 3), (7, 1, 6), (6, 1, 7), (10, 1, 8), (8, 2, 9), (4, 1, 11), (11, 1, 12)),
    ),
}
_DATA = {_WORD: 4, _DOUBLEWORD: 8, _NEAR: 4}


class RiscVRelocations:
    machine = MACHINE
    order: ByteOrder = "little"
    dynamic = Dynamic(_NONE, _RELATIVE, frozenset({_JUMP_SLOT}), _DOUBLEWORD)

    def trim(self, code: bytes) -> bytes:
        """Return all code: zeros at its end may belong to an instruction."""
        return code

    def local_entry(self, other: int) -> int:
        return 0

    def is_via_slot(self, kind: int) -> bool:
        return False

    def part(self, kind: int) -> tuple[str, str, int]:
        if kind in (_HIGH, _LOW):
            return ("high" if kind == _HIGH else "low"), "", 4
        if kind in (_RELAX, _SLOT):
            return "relative", "", 0
        if kind in _DISTANCES:
            return "relative", "place", _DISTANCES[kind][0]
        return ("pointer" if kind == _DOUBLEWORD else "absolute"), "", _DATA.get(kind, 8)

    def apply(self, build: Builder, relocation: Relocation) -> bool:
        """Patch branches and data. The semantics of auipc and addi read the relocations of addresses, so
        these are not patched. An address in a table of the linker is not known."""
        kind, place, target, addend, _, name = relocation
        if kind in (_CALL, _CALL_PLT, _SLOT) or kind in _COMPUTED:
            build.hole(place, _COMPUTED.get(kind, 4 if kind == _SLOT else 8), name)
        elif kind in (_HIGH, _LOW) or kind in _DISTANCES or kind in _DATA:
            if target is None:
                build.hole(place, _DATA.get(kind, 4), name)
            elif kind == _LOW and addend:
                raise LoadError(f"{build.what}: a relocation at {place:#x} is to the middle of an auipc")
            else:
                _apply(build, kind, place, target + addend)
        return kind in (_NONE, _RELAX, _CALL, _CALL_PLT, _SLOT, _HIGH, _LOW, *_DISTANCES, *_DATA, *_COMPUTED)


def _apply(build: Builder, kind: int, place: int, goal: int) -> None:
    if kind in _DATA:
        near = kind == _NEAR
        build.patch(place, _DATA[kind], goal - place if near else goal, True if near else None)
    elif kind in _DISTANCES:
        size, bits, fields = _DISTANCES[kind]
        distance, half = goal - place, 1 << bits - 1
        if not -half <= distance < half or distance % 2:
            raise LoadError(f"{build.what}: a relocation at {place:#x} does not fit {bits} bits")
        word = build.value(place, size) % (1 << 8 * size)
        for low, width, at in fields:
            mask = (1 << width) - 1
            word = word & ~(mask << at) | (distance >> low & mask) << at
        build.patch(place, size, word, False)
