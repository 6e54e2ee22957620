"""ELF: relocatable objects, shared libraries and executables -> Image."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from typing import Any

from elftools.elf.descriptions import describe_reloc_type
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelrRelocationSection
from elftools.elf.sections import SymbolTableSection

from gfsmith.prove.machine.aarch64.relocations import AArch64Relocations
from gfsmith.prove.machine.image import BASE, Builder, FrameTable, Image, LoadError, Mark, Section
from gfsmith.prove.machine.power.relocations import PowerRelocations
from gfsmith.prove.machine.relocation import Relocation, Relocations
from gfsmith.prove.machine.x86.relocations import X86Relocations

_ALLOC, _WRITE, _EXECUTE, _TLS = 0x2, 0x1, 0x4, 0x400
#: pyelftools' name of a machine -> its relocations.
_MACHINES: dict[str, Relocations] = {
    "x64": X86Relocations(),
    "AArch64": AArch64Relocations(),
    "64-bit PowerPC": PowerRelocations(),
}


def defined(data: bytes) -> set[str]:
    """The names of the functions that an ELF file defines."""
    tables = (s for s in ELFFile(BytesIO(data)).iter_sections() if isinstance(s, SymbolTableSection))
    return {
        str(symbol.name)
        for table in tables
        for symbol in table.iter_symbols()
        if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_shndx"] != "SHN_UNDEF"
    }


class Reader:
    """One ELF file on its way to an Image.

    A symbol that the file defines is taken to mean that definition: nothing is said about a program in
    which another file's definition comes first.
    """

    def __init__(self, what: str, data: bytes) -> None:
        self.elf = ELFFile(BytesIO(data))
        self.what = what
        self.placed: dict[int, Section] = {}
        self.kind = str(self.elf["e_type"])
        machine = self.elf.get_machine_arch()
        if machine not in _MACHINES or self.elf.elfclass != 64 or not self.elf.little_endian:
            known = " or ".join(scheme.machine for scheme in _MACHINES.values())
            order = "" if self.elf.little_endian else "big-endian "
            raise LoadError(f"{what}: {self.elf.elfclass}-bit {order}ELF for {machine}, not for {known}")
        self.scheme = _MACHINES[machine]
        self.build = Builder(what, "elf", self.scheme.machine, self.scheme.trim)
        if self.kind not in ("ET_REL", "ET_DYN", "ET_EXEC"):
            raise LoadError(f"{what}: an ELF file of type {self.kind} cannot be loaded")
        if self.elf.num_sections() == 0:
            raise LoadError(f"{what}: the section headers have been stripped")

    def image(self) -> Image:
        self._place_sections()
        for section in self.elf.iter_sections():
            if isinstance(section, SymbolTableSection):
                self._mark_functions(section)
        for section in self.elf.iter_sections():
            if section["sh_type"] in ("SHT_RELA", "SHT_REL"):
                self._relocate(section)
            elif isinstance(section, RelrRelocationSection):
                for entry in section.iter_relocations():
                    place = entry["r_offset"] + self.bias
                    self.build.patch(place, 8, self.build.value(place, 8) + self.bias, None)
        frames = [FrameTable(s.address, bytes(s.data)) for s in self.placed.values() if s.name == ".eh_frame"]
        return replace(self.build.image(frames), producer=self._producer())

    def _producer(self) -> str:
        """What .comment names, in its order."""
        section: Any = self.elf.get_section_by_name(".comment")
        names = section.data().decode("utf-8", "replace").split("\0") if section is not None else []
        return "; ".join(dict.fromkeys(name for name in names if name))

    @property
    def bias(self) -> int:
        """What is added to the addresses in the file."""
        return BASE if self.kind == "ET_DYN" else 0

    def _constant_after_start(self) -> list[tuple[int, int]]:
        """What the dynamic loader makes read-only once relocated."""
        segments = [s for s in self.elf.iter_segments() if s["p_type"] == "PT_GNU_RELRO"]
        return [(s["p_vaddr"], s["p_vaddr"] + s["p_memsz"]) for s in segments]

    def _place_sections(self) -> None:
        constant = self._constant_after_start()
        for index, section in enumerate(self.elf.iter_sections()):
            flags, start, size = section["sh_flags"], section["sh_addr"], section["sh_size"]
            empty = section["sh_type"] == "SHT_NOBITS"
            if not flags & _ALLOC or (flags & _TLS and empty):
                continue
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
            )

    def _whole(self, data: bytes, size: int) -> bytes:
        if len(data) != size:
            raise LoadError(f"{self.what}: the file is cut off")
        return data

    def _mark_functions(self, table: Any) -> None:
        """Functions, and global symbols in code whose type the assembler was not told."""
        for symbol in table.iter_symbols():
            kind, bind = symbol["st_info"]["type"], symbol["st_info"]["bind"]
            section = self.placed.get(symbol["st_shndx"])
            known = kind == "STT_FUNC" or (kind == "STT_NOTYPE" and bind != "STB_LOCAL")
            if known and section is not None and section.executable:
                place = symbol["st_value"] + (section.address if self.kind == "ET_REL" else self.bias)
                name = symbol.name.split("@")[0]
                local = self.scheme.local_entry(symbol["st_other"]["local"])
                self.build.marks.append(Mark(name, place, symbol["st_size"], local))

    def _target(self, symbol: Any) -> int | None:
        """The address a symbol stands for; None if another file has it or it is chosen at run time."""
        place, value = symbol["st_shndx"], symbol["st_value"]
        if place == "SHN_ABS":
            return int(value)
        if place in ("SHN_UNDEF", "SHN_COMMON") or symbol["st_info"]["type"] == "STT_LOOS":
            return None
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
        for entry in table.iter_relocations():
            symbol = symbols.get_symbol(entry["r_info_sym"]) if entry["r_info_sym"] else None
            if static and section is not None:
                self._apply(section, entry, symbol)
            else:
                self._apply_dynamic(entry, symbol)

    def _apply(self, section: Section, entry: Any, symbol: Any) -> None:
        """One relocation of an object file."""
        kind, index = entry["r_info_type"], entry["r_info_sym"]
        target = 0 if symbol is None else self._target(symbol)
        name = symbol.name if symbol is not None else ""
        place = section.address + entry["r_offset"]
        if not self.scheme.apply(self.build, Relocation(kind, place, target, entry["r_addend"], index, name)):
            text = self._kind_name(kind)
            raise LoadError(f"{self.what}: relocation {text} in {section.name} is not handled")

    def _apply_dynamic(self, entry: Any, symbol: Any) -> None:
        """One relocation of a linked file; what is not a plain address becomes a hole."""
        kind, place = entry["r_info_type"], entry["r_offset"] + self.bias
        name = "" if symbol is None else symbol.name
        target = None if symbol is None else self._target(symbol)
        types = self.scheme.dynamic
        if kind == types.none:
            return
        if kind == types.relative:
            self.build.patch(place, 8, entry["r_addend"] + self.bias, None)
        elif kind in types.pointers and target is not None:
            self.build.patch(place, 8, target, None)
        elif kind == types.absolute and target is not None:
            self.build.patch(place, 8, target + entry["r_addend"], None)
        else:
            self.build.hole(place, 8, name or self._kind_name(kind))

    def _kind_name(self, kind: int) -> str:
        name = str(describe_reloc_type(kind, self.elf))
        return str(kind) if name == "<unknown>" else name
