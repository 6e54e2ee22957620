"""COFF objects and PE images for x86-64 (Microsoft, mingw) -> Image."""

from __future__ import annotations

import lief

from gfsmith.prove.machine.formats.image import BASE, PAGE, Builder, Image, LoadError, Mark, Section
from gfsmith.prove.machine.x86.padding import MACHINE, without_filling

_CODE_TYPE, _UNINITIALIZED = 0x20, 0x80
_REMOVED, _INFORMATION, _DISCARDABLE = 0x800, 0x200, 0x0200_0000
_COMDAT = 0x1000
_EXECUTE, _WRITE = 0x2000_0000, 0x8000_0000
_EXTERNAL, _WEAK = 2, 105
_ABSOLUTE = -1
_SECTOR = 512
#: Options of linkers in objects that do not concern functions of the object.
_DIRECTIVES = frozenset(
    {"aligncomm", "defaultlib", "disallowlib", "exclude-symbols", "export", "failifmismatch", "include"}
)
#: Fields of the load configuration with the address of a word that Windows sets.
_SET_BY_WINDOWS = (
    "cast_guard_os_determined_failure_mode",
    "guard_cf_check_function_pointer",
    "guard_cf_dispatch_function_pointer",
    "guard_memcpy_function_pointer",
    "guard_rf_failure_routine_function_pointer",
    "guard_rf_verify_stackpointer_function_pointer",
    "guard_xfg_check_function_pointer",
    "guard_xfg_dispatch_function_pointer",
    "guard_xfg_table_dispatch_function_pointer",
    "security_cookie",
)

_TYPE = lief.COFF.Relocation.TYPE
#: S + A - (P + 4 + n): type -> n, the bytes between the field and the end of its instruction.
_RELATIVE = {
    _TYPE.AMD64_REL32: 0,
    _TYPE.AMD64_REL32_1: 1,
    _TYPE.AMD64_REL32_2: 2,
    _TYPE.AMD64_REL32_3: 3,
    _TYPE.AMD64_REL32_4: 4,
    _TYPE.AMD64_REL32_5: 5,
}
#: S + A: type -> (bytes, signed, whether relative to the image's base).
_DIRECT = {
    _TYPE.AMD64_ADDR64: (8, None, False),
    _TYPE.AMD64_ADDR32: (4, False, False),
    _TYPE.AMD64_ADDR32NB: (4, False, True),
}


def load_object(what: str, data: bytes) -> Image:
    """Return the image of a COFF object. Raises LoadError for other machines and for unsupported
    relocations."""
    binary = lief.COFF.parse(data)
    if binary is None:
        raise LoadError(f"{what}: damaged COFF file")
    if binary.header.machine != lief.PE.Header.MACHINE_TYPES.AMD64:
        raise LoadError(f"{what}: COFF for {binary.header.machine.name}, not for x86-64")
    # lief accepts the remainder of a truncated file.
    records = sum(1 + len(symbol.auxiliary_symbols) for symbol in binary.symbols)
    whole = records == binary.header.nb_symbols and len(binary.sections) == binary.header.nb_sections
    if not whole or not all(_is_whole(section) for section in binary.sections):
        raise LoadError(f"{what}: the file is cut off")
    return _Object(what, binary).image()


def _is_whole(section: lief.COFF.Section) -> bool:
    """Return True if lief has read all bytes and relocations of a section."""
    size = 0 if section.characteristics & _UNINITIALIZED else section.sizeof_raw_data
    relocations = len(section.relocations)
    return len(section.content) == size and (
        section.has_extended_relocations or relocations == section.numberof_relocations
    )


class _Object:
    """The reader of one COFF object."""

    def __init__(self, what: str, binary: lief.COFF.Binary) -> None:
        self.what = what
        self.binary = binary
        self.build = Builder(what, "coff", MACHINE, without_filling)
        self.placed: dict[int, Section] = {}

    def image(self) -> Image:
        for index, section in enumerate(self.binary.sections, start=1):
            self._place(index, section)
        for symbol in self.binary.symbols:
            self._mark(symbol)
        for index, section in enumerate(self.binary.sections, start=1):
            if index in self.placed:
                for entry in section.relocations:
                    self._apply(self.placed[index], entry)
        return self.build.image(base=BASE)

    def _place(self, index: int, section: lief.COFF.Section) -> None:
        flags = section.characteristics
        if section.name == ".drectve":
            self._check_directives(bytes(section.content).decode("utf-8", "replace"))
        if flags & (_REMOVED | _INFORMATION | _DISCARDABLE):
            return
        name = section.name if section.coff_string is None else section.coff_string.string
        self.placed[index] = self.build.place(
            _text(name),
            b"" if flags & _UNINITIALIZED else bytes(section.content),
            align=1 << max(0, (flags >> 20 & 15) - 1),
            writable=bool(flags & _WRITE),
            executable=bool(flags & _EXECUTE),
            size=section.sizeof_raw_data,
            final=bool(flags & _EXECUTE and not flags & _COMDAT) or _is_final(_text(name), flags),
        )

    def _check_directives(self, text: str) -> None:
        """Raise LoadError for an option that gives a function or its section other names or rights."""
        for word in text.replace("\0", " ").removeprefix("\ufeff").split():
            name, _, value = word.lstrip("-/").partition(":")
            if name.lower() not in _DIRECTIVES or (name.lower() == "export" and "=" in value):
                raise LoadError(f"{self.what}: the linker's option {word} is not handled")

    def _mark(self, symbol: lief.COFF.Symbol) -> None:
        """Mark functions, and external symbols in code, whose type assemblers often omit."""
        section = self.placed.get(symbol.section_idx)
        name, external = _text(symbol.name), symbol.storage_class.value in (_EXTERNAL, _WEAK)
        if external and symbol.section_idx == 0 and symbol.storage_class.value == _EXTERNAL:
            self.build.undefined.add(name)
        elif section is None or not section.executable or not section.final:
            if external:
                self.build.disputed.add(name)
        elif external or symbol.is_function:
            self.build.marks.append(Mark(name, section.address + symbol.value, 0))

    def _target(self, symbol: lief.COFF.Symbol) -> int | None:
        """Return the address of a symbol; None if another file defines it."""
        if symbol.section_idx == _ABSOLUTE:
            return int(symbol.value)
        if symbol.section_idx == 0 or symbol.storage_class.value == _WEAK:
            return None
        if symbol.section_idx not in self.placed:
            raise LoadError(f"{self.what}: symbol {_text(symbol.name)} is in a section that is not loaded")
        return self.placed[symbol.section_idx].address + int(symbol.value)

    def _apply(self, section: Section, entry: lief.COFF.Relocation) -> None:
        """Apply one relocation (Microsoft PE/COFF specification, "x64 processors")."""
        kind, place = entry.type, section.address + entry.address
        if kind == _TYPE.AMD64_ABSOLUTE:
            return
        signed: bool | None = True
        if kind in _RELATIVE:
            width, origin = 4, place + 4 + _RELATIVE[kind]
        elif kind in _DIRECT:
            width, signed, based = _DIRECT[kind]
            origin = BASE if based else 0
        else:
            raise LoadError(f"{self.what}: relocation {kind.name} in {section.name} is not handled")
        if entry.symbol is None:
            raise LoadError(f"{self.what}: a relocation in {section.name} without a symbol")
        target = self._target(entry.symbol)
        self.build.fill(place, width)
        fixed = entry.symbol.section_idx == _ABSOLUTE
        if target is None or (fixed and origin):
            self.build.hole(place, width, _text(entry.symbol.name))
        else:
            goal = self.build.value(place, width) + target
            self.build.patch(place, width, goal - origin, signed)
            part = "relative" if kind in _RELATIVE else "pointer" if width == 8 else "absolute"
            if not fixed:
                self.build.refer(place, width, target, goal, part)


def _is_final(name: str, flags: int) -> bool:
    """Return True if a linker copies a data section unchanged.

    The linker may replace a COMDAT section by another file's.
    """
    return not flags & (_COMDAT | _UNINITIALIZED) and name.startswith((".rdata", ".data", ".rodata"))


def _text(name: str | bytes) -> str:
    """Return a name from lief, which gives bytes if the name is not UTF-8."""
    return name if isinstance(name, str) else name.decode("utf-8", "replace")


def load_image(what: str, data: bytes) -> Image:
    """Return the image of a DLL or program at its preferred address, where it needs no relocation.

    Fields that the loader fills in (import addresses) become holes. The functions are the exported ones; each
    ends at the address in the unwind table or, without one, at the start of the next function.
    """
    settings = lief.PE.ParserConfig()
    settings.parse_exceptions = True
    binary = lief.PE.parse(data, settings)
    if binary is None:
        raise LoadError(f"{what}: damaged PE file")
    if binary.header.machine != lief.PE.Header.MACHINE_TYPES.AMD64:
        raise LoadError(f"{what}: PE for {binary.header.machine.name}, not for x86-64")
    base = int(binary.optional_header.imagebase)
    build = Builder(what, "coff", MACHINE, without_filling, linked=True)
    _relocate(build, binary, base)
    _check_mapped(what, binary)
    for section in binary.sections:
        if len(section.content) < min(section.sizeof_raw_data, section.virtual_size):
            raise LoadError(f"{what}: the file is cut off")
        build.place(
            _text(section.name),
            bytes(section.content),
            writable=bool(section.characteristics & _WRITE),
            executable=bool(section.characteristics & _EXECUTE),
            size=section.virtual_size or section.sizeof_raw_data,
            address=base + section.virtual_address,
        )
    for library in binary.imports:
        for entry in library.entries:
            build.hole(base + entry.iat_address, 8, _text(entry.name))
    _configure(build, binary.load_configuration)
    _mark_exports(build, binary, base)
    return build.image(base=base)


def _check_mapped(what: str, binary: lief.PE.Binary) -> None:
    """Raise LoadError if the loader of Windows maps other bytes than the headers state: it rounds places and
    sizes in the file to sectors, and maps the whole file if sections are smaller than pages."""
    if binary.optional_header.section_alignment % PAGE:
        raise LoadError(f"{what}: sections are not aligned to pages")
    for section in binary.sections:
        if section.pointerto_raw_data % _SECTOR or section.sizeof_raw_data % _SECTOR:
            raise LoadError(f"{what}: section {_text(section.name)} is not aligned in the file")


def _relocate(build: Builder, binary: lief.PE.Binary, base: int) -> None:
    """Record the words that Windows changes if it loads the file at another address. Raises LoadError if lief
    has not read the whole table: it ends at a block of page 0, and Windows does not."""
    directory = binary.data_directory(lief.PE.DataDirectory.TYPES.BASE_RELOCATION_TABLE)
    if sum(table.block_size for table in binary.relocations) != (directory.size if directory else 0):
        raise LoadError(f"{build.what}: the table of relocations has another size than its blocks")
    for moved in (field for table in binary.relocations for field in table.entries):
        if moved.type.value:
            build.refer(base + moved.address, 8, base + moved.address, 0, "absolute")


def _configure(build: Builder, configuration: lief.PE.LoadConfiguration | None) -> None:
    """Record the words that Windows sets. Raises LoadError if it also changes code, or runs that of another
    machine."""
    for name in _SET_BY_WINDOWS:
        if address := getattr(configuration, name, None):
            build.hole(address, 8, name)
    changes = ("chpe_metadata_pointer", "dynamic_value_reloctable_section", "dynamic_value_reloc_table")
    if any(getattr(configuration, name, None) for name in changes):
        raise LoadError(f"{build.what}: the load configuration describes changes of code")


def _mark_exports(build: Builder, binary: lief.PE.Binary, base: int) -> None:
    """Add the exported functions of a DLL or program."""
    table = [e for e in binary.exceptions if isinstance(e, lief.PE.RuntimeFunctionX64)]
    ends = {entry.rva_start: entry.rva_end for entry in table}
    export = binary.get_export()
    for function in export.entries if export is not None else ():
        start = function.address
        if function.is_forwarded:
            build.disputed.add(_text(function.name))
            continue
        size = ends.get(start, start) - start
        place = build.section_at(base + start, size)
        first = base + start - place.address
        size = len(without_filling(bytes(place.data[first : first + size])))
        build.marks.append(Mark(_text(function.name), base + start, size))
