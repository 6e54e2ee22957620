"""Mach-O for x86-64: objects and dynamic libraries -> Image."""

from __future__ import annotations

import struct
from typing import NamedTuple

import lief

from gfsmith.prove.machine.formats.image import (
    BASE,
    Builder,
    FrameTable,
    Image,
    LoadError,
    Mark,
    Moved,
    Section,
)
from gfsmith.prove.machine.x86.padding import MACHINE, without_filling

#: <mach-o/nlist.h>
_DEBUG_SYMBOL, _KIND, _EXTERNAL = 0xE0, 0x0E, 0x01
_UNDEFINED, _IS_ABSOLUTE, _IN_SECTION = 0x0, 0x2, 0xE
#: <mach-o/loader.h>: section types without bytes in the file, and attributes of code.
_ZEROFILL, _THREAD_LOCAL_ZEROFILL = {0x1, 0xC}, 0x12
_CODE = 0x8000_0400
_STUB_AND_RESOLVER = 0x10
_REGULAR, _SUBSECTIONS = 0x0, 0x2000
#: Symbols that another definition may replace, and functions that return the address of another one.
_WEAK_DEFINITION, _RESOLVER = 0x80, 0x100
_PROT_WRITE, _PROT_EXECUTE = 2, 4
_PROTECTED = 0x8  #: a flag of segments: SG_PROTECTED_VERSION_1
_READ_ONLY = ("__TEXT", "__DATA_CONST")
#: <mach-o/x86_64/reloc.h>
_UNSIGNED, _SIGNED, _BRANCH, _GOT_LOAD, _GOT, _SUBTRACTOR, _SIGNED_1, _SIGNED_2, _SIGNED_4 = range(9)
_RELATIVE = {_SIGNED, _BRANCH, _SIGNED_1, _SIGNED_2, _SIGNED_4}
_SLOTS = {_GOT_LOAD, _GOT}


class _Symbol(NamedTuple):
    name: str
    kind: int
    section: int
    value: int
    weak: bool  #: in an object: replaceable, or a resolver


class _Entry(NamedTuple):
    """A relocation. number: of a symbol if external, of a section otherwise."""

    offset: int
    number: int
    external: bool
    width: int
    kind: int


def _text(name: str | bytes) -> str:
    """Return a name from lief, which gives bytes if the name is not UTF-8."""
    return name if isinstance(name, str) else name.decode("utf-8", "replace")


def load(what: str, data: bytes) -> Image:
    """Return the image of a Mach-O object or dynamic library; of a universal file, its part for x86-64."""
    fat = lief.MachO.parse(data)
    if fat is None:
        raise LoadError(f"{what}: damaged Mach-O file")
    parts = list(fat)
    mine = [part for part in parts if part.header.cpu_type == lief.MachO.Header.CPU_TYPE.X86_64]
    if len(mine) > 1:  # the loader takes that for x86_64h, if the CPU has AVX2
        raise LoadError(f"{what}: a universal file with {len(mine)} parts for x86-64")
    if mine:
        return _Reader(what, data[mine[0].fat_offset :], mine[0]).image()
    names = ", ".join(part.header.cpu_type.name for part in parts)
    raise LoadError(f"{what}: Mach-O for {names}, not for x86-64")


class _Reader:
    """The reader of one Mach-O file."""

    def __init__(self, what: str, data: bytes, binary: lief.MachO.Binary) -> None:
        kinds = lief.MachO.Header.FILE_TYPE
        if binary.header.file_type not in (kinds.OBJECT, kinds.DYLIB):
            name = binary.header.file_type.name
            raise LoadError(f"{what}: a Mach-O file of type {name} cannot be loaded")
        if len(binary.commands) != binary.header.nb_cmds:
            raise LoadError(f"{what}: the file is cut off")
        self.what = what
        self.data = data
        self.binary = binary
        self.linked = binary.header.file_type == kinds.DYLIB
        self.build = Builder(what, "macho", MACHINE, without_filling, linked=self.linked)
        self.placed: dict[int, Section] = {}
        self.symbols = self._symbols()

    def image(self) -> Image:
        sections = list(self.binary.sections)
        for index, section in enumerate(sections, start=1):
            self._place(index, section)
        for symbol in self.symbols:
            self._mark(symbol)
        frames = self._frames(sections)
        if self.linked:
            self._check_contents()
            self._check_exports()
            for address in self._filled_in_later():
                self.build.hole(address + BASE, 8, "dyld")
        else:
            for index, section in enumerate(sections, start=1):
                if index in self.placed:
                    self._relocate(self.placed[index], self._entries(section))
        return self.build.image(frames)

    def _bytes(self, start: int, size: int) -> bytes:
        if start + size > len(self.data):
            raise LoadError(f"{self.what}: the file is cut off")
        return self.data[start : start + size]

    def _symbols(self) -> list[_Symbol]:
        command = self.binary.symbol_command
        if command is None:
            return []
        start, count = command.symbol_offset, command.numberof_symbols
        found = []
        for name_at, kind, section, description, value in struct.iter_unpack(
            "<IBBHQ", self._bytes(start, 16 * count)
        ):
            begin = command.strings_offset + name_at
            name = self.data[begin : self.data.index(b"\0", begin)].decode("utf-8", "replace")
            weak = bool(description & (0 if self.linked else _WEAK_DEFINITION | _RESOLVER))
            found.append(_Symbol(name, kind, section, value, weak))
        return found

    def _place(self, index: int, section: lief.MachO.Section) -> None:
        kind, attributes = section.type.value & 0xFF, section.flags.value
        if section.segment_name == "__DWARF" or kind == _THREAD_LOCAL_ZEROFILL:
            return
        self._check_mapped(section)
        self.placed[index] = self.build.place(
            _text(section.name),
            starts=self._starts(index, section),
            final=kind == _REGULAR,
            data=b"" if kind in _ZEROFILL else self._bytes(section.offset, section.size),
            align=1 << section.alignment,
            writable=section.segment_name not in _READ_ONLY or self._protection(section) & _PROT_WRITE != 0,
            executable=bool(attributes & _CODE) and self._protection(section) & _PROT_EXECUTE != 0,
            original=section.virtual_address,
            size=section.size,
            address=section.virtual_address + BASE if self.linked else None,
        )

    def _check_mapped(self, section: lief.MachO.Section) -> None:
        """Raise LoadError unless the dynamic loader, which maps segments, maps a section as its header
        states."""
        segment = section.segment
        if not self.linked or not section.size:
            return
        offset = section.virtual_address - segment.virtual_address if segment is not None else -1
        stored = section.type.value & 0xFF not in _ZEROFILL
        size = (segment.file_size if stored else segment.virtual_size) if segment is not None else 0
        place = section.offset - segment.file_offset if stored and segment is not None else offset
        if not 0 <= offset == place <= size - section.size:
            raise LoadError(f"{self.what}: section {_text(section.name)} is not mapped as its header states")

    def _check_contents(self) -> None:
        """Raise LoadError if the system changes bytes in another way than by the opcodes that lief reads."""
        symbols, encryption = self.binary.dynamic_symbol_command, self.binary.encryption_info
        if symbols is not None and symbols.nb_local_relocations + symbols.nb_external_relocations:
            raise LoadError(f"{self.what}: relocations of LC_DYSYMTAB are not handled")
        protected = any(int(segment.flags) & _PROTECTED for segment in self.binary.segments)
        if protected or (encryption is not None and encryption.crypt_id):
            raise LoadError(f"{self.what}: the file is encrypted")

    def _protection(self, section: lief.MachO.Section) -> int:
        """Return the access rights of the segment of a linked section; of an object's section, all rights
        that its name permits."""
        if not self.linked:
            return _PROT_EXECUTE
        segment = section.segment
        rights = int(segment.init_protection) if segment is not None else _PROT_WRITE
        return rights & ~_PROT_WRITE if section.segment_name == "__DATA_CONST" else rights

    def _starts(self, index: int, section: lief.MachO.Section) -> tuple[int, ...]:
        """Return the offsets of the pieces of a section: the linker moves each symbol's bytes as a unit."""
        if self.linked or not int(self.binary.header.flags) & _SUBSECTIONS:
            return (0,)
        mine = (s for s in self.symbols if s.section == index and not s.kind & _DEBUG_SYMBOL)
        offsets = {s.value - section.virtual_address for s in mine}
        return tuple(sorted({0, *(offset for offset in offsets if 0 <= offset < section.size)}))

    def _mark(self, symbol: _Symbol) -> None:
        """Mark symbols in code that are external or spelled like C names; nasm names loops `_f.loop`. An
        external symbol that is no code disputes the name of a function."""
        if symbol.kind & _DEBUG_SYMBOL:
            return
        name, external = symbol.name.removeprefix("_"), symbol.kind & _EXTERNAL
        section = self.placed.get(symbol.section) if symbol.kind & _KIND == _IN_SECTION else None
        if external and symbol.kind & _KIND == _UNDEFINED:
            self.build.undefined.add(name)
        elif section is None or not section.executable or symbol.weak:
            if external:
                self.build.disputed.add(name)
        elif external or (symbol.name.startswith("_") and "." not in name):
            self.build.marks.append(Mark(name, symbol.value - section.original + section.address, 0))

    def _check_exports(self) -> None:
        """Dispute the names that the dynamic loader finds at another place than the table of symbols has, or
        whose function returns the address of another one."""
        marked = {(mark.symbol, mark.address) for mark in self.build.marks}
        tables = (self.binary.dyld_info, self.binary.dyld_exports_trie)
        for export in (export for table in tables if table is not None for export in table.exports):
            name = _text(export.symbol.name).removeprefix("_") if export.symbol is not None else ""
            resolver = export.flags & _STUB_AND_RESOLVER
            if resolver or (name, export.address + BASE) not in marked:
                self.build.disputed.add(name)

    def _entries(self, section: lief.MachO.Section) -> list[_Entry]:
        start, count = section.relocation_offset, section.numberof_relocations
        found = []
        for offset, word in struct.iter_unpack("<iI", self._bytes(start, 8 * count)):
            if offset < 0:
                raise LoadError(f"{self.what}: scattered relocation in {_text(section.name)} is not handled")
            number, width = word & 0xFF_FFFF, 1 << (word >> 25 & 3)
            found.append(_Entry(offset, number, bool(word >> 27 & 1), width, word >> 28))
        return found

    def _target(self, entry: _Entry) -> int | None:
        """Return the number to add to the field: the symbol's address, or the displacement of its section.

        None if another file defines the symbol.
        """
        number = entry.number
        if entry.external:
            symbol = self.symbols[number]
            if symbol.kind & _KIND == _IS_ABSOLUTE:
                return symbol.value
            if symbol.kind & _KIND != _IN_SECTION or symbol.weak:
                return None
            number, value = symbol.section, symbol.value
        else:
            value = 0
        if number not in self.placed:
            raise LoadError(f"{self.what}: a relocation refers to a section that is not loaded")
        return value + self.placed[number].address - self.placed[number].original

    def _relocate(self, section: Section, entries: list[_Entry]) -> None:
        """Apply one relocation (<mach-o/x86_64/reloc.h>). The number in place counts from the end of its own
        four bytes."""
        subtract: int | None = None
        for entry in entries:
            place = section.address + entry.offset
            target = self._target(entry)
            name = self.symbols[entry.number].name if entry.external else ""
            value = self.build.value(place, entry.width)
            if entry.kind == _SUBTRACTOR:
                if target is None:
                    raise LoadError(f"{self.what}: difference to the external symbol {name}")
                subtract = target
                continue
            self.build.fill(place, entry.width)
            if entry.kind in _SLOTS and entry.external:
                slot = self.build.slot(entry.number, name.removeprefix("_"), target)
                self.build.patch(place, entry.width, value + slot - place - 4, True)
            elif entry.kind not in _RELATIVE and entry.kind != _UNSIGNED:
                raise LoadError(f"{self.what}: relocation {entry.kind} in {section.name} is not handled")
            elif target is None:
                self.build.hole(place, entry.width, name.removeprefix("_"))
            elif entry.kind == _UNSIGNED:
                self.build.patch(place, entry.width, value + target - (subtract or 0), None)
            else:
                origin = place + 4 if entry.external else section.address - section.original
                self.build.patch(place, entry.width, value + target - origin, True)
            if target is not None:
                self._refer(section, entry, target, subtract is not None)
            subtract = None

    def _refer(self, section: Section, entry: _Entry, target: int, is_difference: bool) -> None:
        """Record the reference or the hole that a relocation leaves in its field."""
        place = section.address + entry.offset
        part = "relative" if entry.kind in _RELATIVE or entry.kind in _SLOTS else "absolute"
        if part == "absolute" and entry.width == 8 and not is_difference:
            part = "pointer"
        number = self.symbols[entry.number].section if entry.external else entry.number
        if entry.kind in _SLOTS:
            named = self.build.slots[entry.number]
        elif entry.external and self.symbols[entry.number].kind & _KIND == _IS_ABSOLUTE:
            self.build.hole(place, entry.width, self.symbols[entry.number].name)
            return
        elif entry.external:
            named = target
        elif len(self.placed[number].starts) > 1:
            self.build.hole(place, entry.width, self.placed[number].name)
            return
        else:
            named = self.placed[number].address
        goal = self.build.value(place, entry.width) if part == "pointer" else named
        self.build.refer(place, entry.width, named, goal, part)

    def _frames(self, sections: list[lief.MachO.Section]) -> list[FrameTable]:
        """Return the .eh_frame tables in the file's own numbers: distances in them have no relocations."""
        moved = tuple(Moved(s.address, len(s.data), s.original) for s in self.placed.values())
        tables = []
        for index, section in enumerate(sections, start=1):
            if section.name != "__eh_frame" or index not in self.placed:
                continue
            data = bytearray(self.placed[index].data)
            pair = 0
            for entry in [] if self.linked else self._entries(section):
                value = self.symbols[entry.number].value if entry.external else 0
                if entry.kind == _SUBTRACTOR:
                    pair = value
                elif entry.kind == _UNSIGNED:
                    field = slice(entry.offset, entry.offset + entry.width)
                    number = int.from_bytes(data[field], "little") + value - pair
                    data[field] = (number % (1 << 8 * entry.width)).to_bytes(entry.width, "little")
                    pair = 0
            tables.append(FrameTable(section.virtual_address, bytes(data), moved))
        return tables

    def _filled_in_later(self) -> set[int]:
        """Return the addresses to which dyld writes when it loads a library."""
        rebased = {int(entry.address) for entry in self.binary.relocations}
        return rebased | {int(entry.address) for entry in self.binary.bindings}
