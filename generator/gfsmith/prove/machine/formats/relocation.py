"""Relocations of ELF objects: one relocation, and the interface of each processor's relocation types."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from gfsmith.prove.machine.formats.image import Builder, ByteOrder


class Relocation(NamedTuple):
    """One relocation of an object file: its type, its place, S (None: another file defines it), A, and the
    symbol by number and name."""

    kind: int
    place: int
    target: int | None
    addend: int
    number: int
    symbol: str


class Dynamic(NamedTuple):
    """The types of relocations in linked files: none, base + A, S (pointers), S + A; of eight bytes."""

    none: int
    relative: int
    pointers: frozenset[int]
    absolute: int


def trimmed(code: bytes, *filling: bytes) -> bytes:
    """Return code of four-byte instructions without the padding at its end."""
    end = len(code) // 4 * 4
    while end and code[end - 4 : end] in filling:
        end -= 4
    return code[:end]


class Relocations(Protocol):
    """The ELF relocations of one processor with 64 bits. machine: the name of its Architecture. order: that
    of the bytes of a number."""

    machine: str
    order: ByteOrder
    dynamic: Dynamic

    def trim(self, code: bytes) -> bytes:
        """Return code without the padding at its end."""

    def local_entry(self, other: int) -> int:
        """Return Function.local, by the upper three bits of a symbol's st_other."""

    def is_via_slot(self, kind: int) -> bool:
        """Return True if a type of relocation refers to a pointer to the symbol."""

    def part(self, kind: int) -> tuple[str, str, int]:
        """Return Reference.part, origin and size of a relocation of this type; size 0: it has no field."""

    def apply(self, build: Builder, relocation: Relocation) -> bool:
        """Patch an object's section; False if the type is not known. Raises LoadError if it does not fit."""
