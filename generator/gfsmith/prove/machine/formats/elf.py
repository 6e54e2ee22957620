"""ELF: relocatable objects, shared libraries and executables -> Image."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from itertools import pairwise
from struct import iter_unpack
from typing import Any

from elftools.elf.descriptions import describe_reloc_type
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelrRelocationSection
from elftools.elf.sections import SymbolTableSection

from gfsmith.prove.machine.aarch64.relocations import AArch64Relocations
from gfsmith.prove.machine.formats import dynamic
from gfsmith.prove.machine.formats.image import (
    BASE,
    PAGE,
    Builder,
    ByteOrder,
    FrameTable,
    Hole,
    Image,
    LoadError,
    Mark,
    Section,
)
from gfsmith.prove.machine.formats.relocation import Relocation, Relocations
from gfsmith.prove.machine.power.relocations import PowerRelocations
from gfsmith.prove.machine.riscv.relocations import RiscVRelocations
from gfsmith.prove.machine.s390x.relocations import S390xRelocations
from gfsmith.prove.machine.x86.relocations import X86Relocations

_ALLOC, _WRITE, _EXECUTE, _TLS = 0x2, 0x1, 0x4, 0x400
_MERGE, _STRINGS, _COMPRESSED = 0x10, 0x20, 0x800
_PF_X, _PF_W = 0x1, 0x2
_TOC_SYMBOL = ".TOC."
_DESCRIPTOR = 16  #: bytes of the longest field of dynamic relocations, but for copies of variables
#: Bytes of an entry, which loaders do not read from the section headers; pyelftools does.
_ENTRY = {"SHT_SYMTAB": 24, "SHT_DYNSYM": 24, "SHT_RELR": 8}
#: Sections whose bytes linkers neither replace by another file's, nor rewrite, by the beginning of their
#: name.
_ONCE = ".gnu.linkonce"  #: sections of which a linker keeps one for each name
_FINAL = (".rodata", ".lrodata", ".data", ".text")
#: pyelftools' name of a machine -> its relocations.
_MACHINES: dict[str, Relocations] = {
    "x64": X86Relocations(),
    "AArch64": AArch64Relocations(),
    "64-bit PowerPC": PowerRelocations(),
    "RISC-V": RiscVRelocations(),
    "IBM S/390": S390xRelocations(),
}


def _is_final(section: Any) -> bool:
    """Return True if a linker copies a section unchanged.

    The linker may replace a section of a group (COMDAT) by another file's. It merges strings and rewrites
    tables such as .eh_frame.
    """
    allowed = _ALLOC | _WRITE | _EXECUTE | _MERGE
    plain = section["sh_type"] == "SHT_PROGBITS" and not section["sh_flags"] & ~allowed
    code = section["sh_flags"] & _EXECUTE and not section.name.startswith(_ONCE)
    return plain and (bool(code) or section.name.startswith(_FINAL))


def defined(data: bytes) -> set[str]:
    """Return the names of the functions that an ELF file defines, and its other names that a linker may take
    for functions."""
    tables = (s for s in ELFFile(BytesIO(data)).iter_sections() if isinstance(s, SymbolTableSection))
    return {
        str(symbol.name)
        for table in tables
        for symbol in table.iter_symbols()
        if (symbol["st_info"]["type"] == "STT_FUNC" or symbol["st_info"]["bind"] != "STB_LOCAL")
        and symbol["st_shndx"] != "SHN_UNDEF"
    }


class Reader:
    """The reader of one ELF file.

    The reader resolves a symbol that the file defines to that definition. The image does not describe a
    program in which another file's definition comes first.
    """

    def __init__(self, what: str, data: bytes) -> None:
        self.elf = ELFFile(BytesIO(data))
        self.what = what
        self.placed: dict[int, Section] = {}
        self.relocated: set[int] = set()  #: sections of an object that have a table of relocations
        self.kind = str(self.elf["e_type"])
        machine = self.elf.get_machine_arch()
        order: ByteOrder = "little" if self.elf.little_endian else "big"
        scheme = _MACHINES.get(machine)
        if scheme is None or self.elf.elfclass != 64 or order != scheme.order:
            known = " or ".join(each.machine for each in _MACHINES.values())
            text = "" if order == "little" else "big-endian "
            raise LoadError(f"{what}: {self.elf.elfclass}-bit {text}ELF for {machine}, not for {known}")
        self.scheme = scheme
        self.build = Builder(what, "elf", self.scheme.machine, self.scheme.trim)
        self.build.order = order
        self.build.linked = self.kind != "ET_REL"
        if self.kind not in ("ET_REL", "ET_DYN", "ET_EXEC"):
            raise LoadError(f"{what}: an ELF file of type {self.kind} cannot be loaded")
        names, count = self.elf.get_shstrndx(), self.elf.num_sections()
        if count == 0:
            raise LoadError(f"{what}: the section headers have been stripped")
        if names >= count or self.elf.get_section(names)["sh_type"] != "SHT_STRTAB":  # ld drops functions
            raise LoadError(f"{what}: the sections have no table of names")

    def image(self) -> Image:
        self._place_sections()
        dynamic.check(self.what, self.elf)
        tables = [s for s in self.elf.iter_sections() if isinstance(s, SymbolTableSection)]
        if self.kind == "ET_REL" and len(tables) > 1:  # linkers read one of them
            raise LoadError(f"{self.what}: an object with {len(tables)} tables of symbols")
        for table in tables:
            self._mark_functions(table)
        for section in self.elf.iter_sections():
            kind, entry_bytes = section["sh_type"], section["sh_entsize"]
            if _ENTRY.get(kind, entry_bytes) != entry_bytes:
                raise LoadError(f"{self.what}: section {section.name} has entries of another size")
            if kind in ("SHT_RELA", "SHT_REL"):
                self._relocate(section)
            elif isinstance(kind, int) and section["sh_info"] in self.placed:
                raise LoadError(f"{self.what}: section {section.name} of an unknown type may be relocations")
            elif isinstance(section, RelrRelocationSection):
                for entry in section.iter_relocations():
                    place = entry["r_offset"] + self.bias
                    self.build.refer(place, 8, place, place, "absolute")
                    self.build.patch(place, 8, self.build.value(place, 8) + self.bias, None)
        frames = [FrameTable(s.address, bytes(s.data)) for s in self.placed.values() if s.name == ".eh_frame"]
        return replace(self.build.image(frames), producer=self._producer())

    def _producer(self) -> str:
        """Return the distinct names in .comment, in their order."""
        section: Any = self.elf.get_section_by_name(".comment")
        names = section.data().decode("utf-8", "replace").split("\0") if section is not None else []
        return "; ".join(dict.fromkeys(name for name in names if name))

    @property
    def bias(self) -> int:
        """The difference between an address in the image and the address in the file."""
        return BASE if self.kind == "ET_DYN" else 0

    def _constant_after_start(self) -> list[tuple[int, int]]:
        """Return the address ranges that the dynamic loader makes read-only after relocation: whole pages
        of the last such segment."""
        segments = [s for s in self.elf.iter_segments() if s["p_type"] == "PT_GNU_RELRO"][-1:]
        return [(s["p_vaddr"], (s["p_vaddr"] + s["p_memsz"]) // PAGE * PAGE) for s in segments]

    def _place_sections(self) -> None:
        constant, grouped = self._constant_after_start(), self._grouped()
        for index, section in enumerate(self.elf.iter_sections()):
            flags, start, size = section["sh_flags"], section["sh_addr"], section["sh_size"]
            empty = section["sh_type"] == "SHT_NOBITS"
            if not flags & _ALLOC or (flags & _TLS and empty):
                continue
            if flags & _COMPRESSED:  # loaders and linkers differ in whether they expand it
                raise LoadError(f"{self.what}: section {section.name} is compressed")
            if self.kind != "ET_REL":
                self._check_mapped(section)
            writable = bool(flags & _WRITE) and not any(
                low <= start and start + size <= high for low, high in constant
            )
            self.placed[index] = self.build.place(
                section.name,
                b"" if empty else self._whole(section.data(), size),
                align=section["sh_addralign"],
                writable=writable,
                executable=bool(flags & _EXECUTE),
                size=size,
                address=None if self.kind == "ET_REL" else start + self.bias,
                starts=self._starts(section) if self.kind == "ET_REL" else (0,),
                final=_is_final(section) and index not in grouped,
            )

    def _grouped(self) -> set[int]:
        """Return the numbers of the sections that groups list. Some linkers read the lists, some the flags of
        the sections."""
        groups = [s.data() for s in self.elf.iter_sections() if s["sh_type"] == "SHT_GROUP"]
        return {number for data in groups for (number,) in iter_unpack("<I", data[4:])}

    def _starts(self, section: Any) -> tuple[int, ...]:
        """Return the offsets of the pieces of a section: the linker merges SHF_MERGE entry by entry."""
        entry, size = section["sh_entsize"], section["sh_size"]
        if not section["sh_flags"] & _MERGE or section["sh_flags"] & _STRINGS or not entry:
            return (0,)
        return tuple(range(0, size, entry)) or (0,)

    def _check_mapped(self, section: Any) -> None:
        """Raise LoadError unless the dynamic loader, which reads program headers only, maps a section as its
        header states."""
        start, size, flags = section["sh_addr"], section["sh_size"], section["sh_flags"]
        if not size or (flags & _TLS and section["sh_type"] == "SHT_NOBITS"):
            return
        for segment in self.segments:
            offset = start - segment["p_vaddr"]
            if not 0 <= offset <= segment["p_memsz"] - size:
                continue
            stored = section["sh_type"] == "SHT_NOBITS" or (
                segment["p_offset"] + offset == section["sh_offset"] and offset + size <= segment["p_filesz"]
            )
            zeroed = section["sh_type"] != "SHT_NOBITS" or offset >= segment["p_filesz"]
            writable = bool(segment["p_flags"] & _PF_W) <= bool(flags & _WRITE)
            executable = bool(segment["p_flags"] & _PF_X) >= bool(flags & _EXECUTE)
            if stored and zeroed and writable and executable:
                return
        raise LoadError(f"{self.what}: section {section.name} is not mapped as its header states")

    @property
    def segments(self) -> list[Any]:
        """Return the segments that are loaded. Raises LoadError if two share a page."""
        found = [s for s in self.elf.iter_segments() if s["p_type"] == "PT_LOAD"]
        pages = sorted((s["p_vaddr"] // PAGE, -(-(s["p_vaddr"] + s["p_memsz"]) // PAGE)) for s in found)
        if any(one[1] > other[0] for one, other in pairwise(pages)):
            raise LoadError(f"{self.what}: two segments share a page")
        return found

    def _whole(self, data: bytes, size: int) -> bytes:
        if len(data) != size:
            raise LoadError(f"{self.what}: the file is cut off")
        return data

    def _mark_functions(self, table: Any) -> None:
        """Mark functions, and global symbols in code whose type the source does not state."""
        for symbol in table.iter_symbols():
            kind, bind = symbol["st_info"]["type"], symbol["st_info"]["bind"]
            section = self.placed.get(symbol["st_shndx"])
            known = kind == "STT_FUNC" or (kind == "STT_NOTYPE" and bind != "STB_LOCAL")
            replaceable = self.kind == "ET_REL" and (
                bind == "STB_WEAK" or (section is not None and not section.final)
            )
            if symbol["st_shndx"] == "SHN_UNDEF":
                self.build.undefined.add(symbol.name.split("@")[0])
            elif not known or section is None or not section.executable or replaceable:
                if bind != "STB_LOCAL":
                    self.build.disputed.add(symbol.name.split("@")[0])
            else:
                place = symbol["st_value"] + (section.address if self.kind == "ET_REL" else self.bias)
                name = symbol.name.split("@")[0]
                local = self.scheme.local_entry(symbol["st_other"]["local"])
                self.build.marks.append(Mark(name, place, symbol["st_size"], local))

    def _target(self, symbol: Any) -> int | None:
        """Return the address of a symbol; None if another file or the run time determines it."""
        place, value = symbol["st_shndx"], symbol["st_value"]
        if place == "SHN_ABS":
            return int(value)
        if place in ("SHN_UNDEF", "SHN_COMMON") or symbol["st_info"]["type"] == "STT_LOOS":
            return None
        if symbol["st_info"]["bind"] == "STB_WEAK" and self.kind == "ET_REL":
            return None  # another file's definition may replace this one
        if place not in self.placed:
            raise LoadError(f"{self.what}: symbol {symbol.name} is in a section that is not loaded")
        return int(value) + (self.placed[place].address if self.kind == "ET_REL" else self.bias)

    def _relocate(self, table: Any) -> None:
        section = self.placed.get(table["sh_info"])
        static = self.kind == "ET_REL"
        if (static and section is None) or (not static and not table["sh_flags"] & _ALLOC):
            return
        if table["sh_type"] == "SHT_REL":
            raise LoadError(f"{self.what}: relocations without addends are not handled")
        symbols: Any = self.elf.get_section(table["sh_link"])
        if static and (table["sh_info"] in self.relocated or not isinstance(symbols, SymbolTableSection)):
            raise LoadError(f"{self.what}: {table.name} is a table of relocations that linkers may ignore")
        self.relocated.add(table["sh_info"])
        for entry in table.iter_relocations():
            symbol = symbols.get_symbol(entry["r_info_sym"]) if entry["r_info_sym"] else None
            if static and section is not None:
                self._apply(section, entry, symbol)
            else:
                self._apply_dynamic(entry, symbol)

    def _apply(self, section: Section, entry: Any, symbol: Any) -> None:
        """Apply one relocation of an object file."""
        kind, index = entry["r_info_type"], entry["r_info_sym"]
        target = 0 if symbol is None else self._target(symbol)
        name = symbol.name if symbol is not None else ""
        place = section.address + entry["r_offset"]
        if not self.scheme.apply(self.build, Relocation(kind, place, target, entry["r_addend"], index, name)):
            text = self._kind_name(kind)
            raise LoadError(f"{self.what}: relocation {text} in {section.name} is not handled")
        table = symbol is not None and symbol.name == _TOC_SYMBOL
        if kind != self.scheme.dynamic.none:
            self.build.fill(place, self.scheme.part(kind)[2])
        if kind != self.scheme.dynamic.none and (target is not None or table):
            self._refer(kind, place, target or 0, entry["r_addend"], index, symbol)

    def _refer(self, kind: int, place: int, target: int, addend: int, index: int, symbol: Any) -> None:
        """Record the reference or the hole that a relocation leaves in its field."""
        part, origin, size = self.scheme.part(kind)
        if not size:
            return
        if index in self.build.slots and self.scheme.is_via_slot(kind):
            target = self.build.slots[index]
        if symbol is not None and symbol.name == _TOC_SYMBOL:
            self.build.refer(place, size, -1, addend, part, origin)
            return
        if symbol is not None and symbol["st_shndx"] == "SHN_ABS":
            if origin or part not in ("pointer", "absolute"):
                self.build.hole(place, size, symbol.name)
            return
        section = self.placed.get(symbol["st_shndx"]) if symbol is not None else None
        named = target
        if section is not None and len(section.starts) > 1 and symbol["st_info"]["type"] == "STT_SECTION":
            if part == "relative" and addend:  # linkers disagree about the chosen entry
                self.build.hole(place, size, section.name)
                return
            named = target + addend
        self.build.refer(place, size, named, target + addend, part, origin)

    def _apply_dynamic(self, entry: Any, symbol: Any) -> None:
        """Apply one relocation of a linked file; a field that is not a plain address becomes a hole, of
        all bytes if it is a descriptor or a copy of a variable of another file."""
        kind, place = entry["r_info_type"], entry["r_offset"] + self.bias
        name = "" if symbol is None else symbol.name
        target = None if symbol is None else self._target(symbol)
        types = self.scheme.dynamic
        if kind == types.none:
            return
        if kind in (types.relative, types.absolute) or kind in types.pointers:
            self.build.refer(place, 8, place, place, "absolute")
        if kind == types.relative:
            self.build.patch(place, 8, entry["r_addend"] + self.bias, None)
        elif kind in types.pointers and target is not None:
            self.build.patch(place, 8, target, None)
        elif kind == types.absolute and target is not None:
            self.build.patch(place, 8, target + entry["r_addend"], None)
        else:
            address = kind in (types.relative, types.absolute) or kind in types.pointers
            self.build.section_at(place, 1)
            size = 8 if address else max(_DESCRIPTOR, 0 if symbol is None else symbol["st_size"])
            self.build.holes.append(Hole(place, size, name or self._kind_name(kind)))

    def _kind_name(self, kind: int) -> str:
        name = str(describe_reloc_type(kind, self.elf))
        return str(kind) if name == "<unknown>" else name
