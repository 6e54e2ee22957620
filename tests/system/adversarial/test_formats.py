"""Files in which a linker or a loader finds another function or constant than the reader would: all are
refused, or the bytes count as unknown."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import lief
import pytest
from elftools.elf.elffile import ELFFile

from gfsmith.prove.machine.formats.load import LoadError, load, load_symbol
from tests.support.levels import first
from tests.unit.prove.objects import COFF, GCC, MACHO, MINGW, assemble, run

_CODE = ".globl f\n.type f, @function\nf: .skip 256, 0x90\nret\n.size f, . - f\n"
_LONG = ".globl _f\n_f: .skip 64, 0x90\nret\n"


def _library(folder: Path) -> Path:
    run("gcc", "-shared", "-nostdlib", "-o", folder / "f.so", assemble(GCC, _CODE, folder))
    assert "f" in load(folder / "f.so").functions
    return folder / "f.so"


def _patch(path: Path, *changes: tuple[int, bytes]) -> Path:
    data = bytearray(path.read_bytes())
    for place, content in changes:
        data[place : place + len(content)] = content
    path.write_bytes(data)
    return path


def _section(path: Path, name: str) -> tuple[int, Any]:
    """Return the place of a section's header, and the header."""
    elf = ELFFile(path.open("rb"))
    number = elf.get_section_index(name)
    return elf["e_shoff"] + number * elf["e_shentsize"], elf.get_section(number)


def _dynamic(path: Path) -> tuple[int, Any]:
    """Return the place of the program header PT_DYNAMIC, and the header."""
    elf = ELFFile(path.open("rb"))
    found = ((n, s) for n, s in enumerate(elf.iter_segments()) if s["p_type"] == "PT_DYNAMIC")
    number, segment = next(found)
    return elf["e_phoff"] + number * elf["e_phentsize"], segment


def test_a_copied_variable_is_unknown(tmp_path: Path) -> None:
    """The dynamic loader copies all 64 bytes of z from the library, not one address."""
    data = ".globl z\n.type z, @object\n.size z, 64\n.section .rodata\nz: .zero 64\n"
    run("gcc", "-shared", "-nostdlib", "-o", tmp_path / "z.so", assemble(GCC, data, tmp_path, "z"))
    text = ".globl _start\n_start: movdqu z+48(%rip), %xmm0\nret\n"
    program, unit = tmp_path / "f", assemble(GCC, text, tmp_path)
    run("gcc", "-pie", "-nostdlib", "-o", program, unit, tmp_path / "z.so")
    image = load(program)
    hole = next(hole for hole in image.holes if hole.symbol == "z")
    assert hole.size == 64 and image.hole_in(hole.address + 48, 16) == hole


def test_a_compressed_section_is_refused(tmp_path: Path) -> None:
    """The loader maps the compressed bytes."""
    path = _library(tmp_path)
    header, text = _section(path, ".text")
    content = struct.pack("<IIQQ", 1, 0, text["sh_size"], 1) + zlib.compress(text.data(), 9)
    flags = text["sh_flags"] | 0x800
    _patch(path, (text["sh_offset"], content), (header + 8, flags.to_bytes(8, "little")))
    with pytest.raises(LoadError, match=r"section \.text is compressed"):
        load(path)


@pytest.mark.parametrize(("field", "value"), [(16, 16), (32, None), (40, None)])
def test_the_loader_finds_the_tags_by_their_address(field: int, value: int | None, tmp_path: Path) -> None:
    """Fields of a program header: 16 is the address, 32 the size in the file, 40 that in memory."""
    path = _library(tmp_path)
    place, segment = _dynamic(path)
    if field == 40:  # no end within the size
        _patch(path, (place + 32, (16).to_bytes(8, "little")))
    else:
        _patch(path, (place + field, (segment["p_vaddr"] + value if value else 0).to_bytes(8, "little")))
    with pytest.raises(LoadError, match="PT_DYNAMIC is not mapped"):
        load(path)


@pytest.mark.parametrize("tag", [17, 0x6000_000F, 0x6000_0011, 0x6FFF_E000])
def test_other_tables_of_relocations_are_refused(tag: int, tmp_path: Path) -> None:
    """DT_REL, which musl applies, and those of Android, in place of DT_GNU_HASH."""
    path = _library(tmp_path)
    _, segment = _dynamic(path)
    number = next(n for n, each in enumerate(segment.iter_tags()) if each["d_tag"] == "DT_GNU_HASH")
    _patch(path, (segment["p_offset"] + 16 * number, tag.to_bytes(8, "little")))
    with pytest.raises(LoadError, match="relocations by DT_"):
        load(path)


def test_a_second_table_of_symbols_is_refused(tmp_path: Path) -> None:
    """Linkers read one table of an object, and may ignore relocations by another one."""
    path = assemble(GCC, f"{_CODE}.section other\n.zero 24\n", tmp_path)
    header, _ = _section(path, "other")
    names = ELFFile(path.open("rb")).get_section_index(".strtab")
    fields = {4: 2, 40: names, 56: 24}  # type, table of names, bytes of an entry
    _patch(path, *((header + field, value.to_bytes(4, "little")) for field, value in fields.items()))
    with pytest.raises(LoadError, match="2 tables of symbols"):
        load(path)


def test_a_second_table_of_relocations_is_refused(tmp_path: Path) -> None:
    """ld takes the first one of a section. Fields of a section's header: 32 is its size, 40 the number of the
    table of symbols."""
    text = f"{_CODE}.text\nmovdqu c(%rip), %xmm0\n.section .rodata\nc: .quad 1, 2\n"
    path = assemble(GCC, f"{text}.section other\n.zero 24\n", tmp_path)
    load(path)
    whole, (header, other), (first, table) = (
        path.read_bytes(),
        _section(path, "other"),
        _section(path, ".rela.text"),
    )
    entry = whole[table["sh_offset"] :][:24]
    fields = {4: 4, 40: table["sh_link"], 44: table["sh_info"], 56: 24}
    changes = [(header + field, value.to_bytes(4, "little")) for field, value in fields.items()]
    _patch(path, *changes, (other["sh_offset"], entry), (first + 32, bytes(8)))
    with pytest.raises(LoadError, match="relocations that linkers may ignore"):
        load(path)
    path.write_bytes(whole)
    _patch(path, (first + 40, bytes(4)))
    with pytest.raises(LoadError, match="relocations that linkers may ignore"):
        load(path)


@pytest.mark.parametrize("number", [2, 99])
def test_sections_without_names_are_refused(number: int, tmp_path: Path) -> None:
    """ld warns, and takes f from another file. 62: the number of the table of names."""
    path = _patch(assemble(GCC, _CODE, tmp_path), (62, number.to_bytes(2, "little")))
    with pytest.raises(LoadError, match="no table of names"):
        load(path)


@pytest.mark.parametrize("style", ["gnu", "sysv", "both"])
def test_symbols_that_only_the_loader_finds_are_refused(style: str, tmp_path: Path) -> None:
    """Fields of a section's header: 32 is its size, 40 the number of the table of names."""
    path = tmp_path / "f.so"
    unit = assemble(GCC, _CODE, tmp_path)
    for field, value, reason in ((32, 24, "lack symbols"), (40, None, "uses another table")):
        run("gcc", "-shared", "-nostdlib", f"-Wl,--hash-style={style}", "-o", path, unit)
        header, _ = _section(path, ".dynsym")
        other = ELFFile(path.open("rb")).get_section_index(".strtab")
        _patch(path, (header + field, (value or other).to_bytes(4, "little")))
        with pytest.raises(LoadError, match=reason):
            load(path)


def test_entries_of_another_size_are_refused(tmp_path: Path) -> None:
    """Loaders take 24 bytes for a symbol. With 48 the reader would skip every other one."""
    path = _library(tmp_path)
    header, table = _section(path, ".symtab")
    size = table["sh_size"] // 48 * 48
    _patch(path, (header + 32, size.to_bytes(8, "little")), (header + 56, b"\x30"))
    with pytest.raises(LoadError, match="entries of another size"):
        load(path)


def test_members_that_only_a_linker_sees_are_refused(tmp_path: Path) -> None:
    """A linker takes a member by its place in the index. //x is a table of names only at the beginning."""
    good, evil = assemble(GCC, _CODE, tmp_path, "good"), assemble(GCC, _CODE, tmp_path, "evil")
    for number, members in enumerate(((good, evil), (evil, good))):
        path = tmp_path / f"{number}.a"
        run("ar", "rcs", path, *members)
        _patch(path, (path.read_bytes().index(b"evil.o/"), b"//x    "))
        with pytest.raises(LoadError, match=r"linkers may read|has no member"):
            load_symbol(path, "f")
    run("ar", "rcs", tmp_path / "one.a", good)
    assert "f" in load_symbol(tmp_path / "one.a", "f").functions
    size = tmp_path.joinpath("one.a").read_bytes().index(b"`\n", 70) - 10
    digits = tmp_path.joinpath("one.a").read_bytes()[size : size + 10].split()[0]
    _patch(tmp_path / "one.a", (size, digits[:1] + b"_" + digits[1:]))
    with pytest.raises(LoadError, match="linkers may read"):
        load_symbol(tmp_path / "one.a", "f")


@pytest.mark.needs("clang")
@pytest.mark.parametrize("format", ["gnu", "bsd", "darwin", "coff"])
def test_the_index_of_an_archive_is_no_member(format: str, tmp_path: Path) -> None:
    path = tmp_path / "f.a"
    run("llvm-ar-19", f"--format={format}", "rcs", path, assemble(GCC, _CODE, tmp_path))
    assert "f" in load_symbol(path, "f").functions


@pytest.mark.needs("clang")
def test_two_parts_of_a_universal_file_are_refused(tmp_path: Path) -> None:
    newer = ["clang-19", "--target=x86_64h-apple-macos11"]
    parts = [assemble(command, _LONG, tmp_path, name) for command, name in ((MACHO, "a"), (newer, "b"))]
    run("llvm-lipo-19", "-create", "-output", tmp_path / "fat.o", *parts)
    with pytest.raises(LoadError, match="2 parts for x86-64"):
        load(tmp_path / "fat.o")


@pytest.mark.needs("clang")
def test_a_resolver_is_not_the_function(tmp_path: Path) -> None:
    image = load(assemble(MACHO, f".symbol_resolver _f\n{_LONG}", tmp_path))
    assert "f" not in image.functions and "f" in image.disputed


@pytest.mark.needs("clang")
@pytest.mark.parametrize("other", ["call _f", ".globl _f\n_f = 4096", ".comm _f, 8"])
def test_a_function_of_the_file_is_not_the_external_one(other: str, tmp_path: Path) -> None:
    """As a compiler names a static function: `_f` is found in another file, or is no code."""
    path = assemble(MACHO, f"_g: .skip 64, 0x90\nret\n{other}\n", tmp_path)
    _patch(path, (path.read_bytes().rindex(b"_g\0"), b"_f"))
    image = load(path)
    assert "f" not in image.functions and "f" in image.disputed


def _dylib(folder: Path) -> Path:
    unit = assemble(MACHO, _LONG, folder)
    options = ("-arch", "x86_64", "-platform_version", "macos", "11.0", "11.0", "-dylib")
    run("ld64.lld-19", *options, "-o", folder / "f.dylib", unit)
    assert "f" in load(folder / "f.dylib").functions
    return folder / "f.dylib"


@pytest.mark.needs("clang")
@pytest.mark.parametrize("step", first([8, -8]))
def test_a_section_of_a_dylib_lies_in_its_segment(step: int, tmp_path: Path) -> None:
    path = _dylib(tmp_path)
    place = path.read_bytes().index(b"__text\0") + 48  # of the offset in the file
    offset = int.from_bytes(path.read_bytes()[place : place + 4], "little") + step
    _patch(path, (place, offset.to_bytes(4, "little")))
    with pytest.raises(LoadError, match="__text is not mapped"):
        load(path)


@pytest.mark.needs("clang")
def test_exports_of_another_place_are_disputed(tmp_path: Path) -> None:
    """The value in the table of symbols differs from the one in the table of exports."""
    path = _dylib(tmp_path)
    data = path.read_bytes()
    parsed: Any = lief.MachO.parse(data)  # owns its parts
    command = parsed.at(0).symbol_command
    for number in range(command.numberof_symbols):
        place = command.symbol_offset + 16 * number + 8
        value = int.from_bytes(data[place : place + 8], "little")
        _patch(path, (place, (value + 8).to_bytes(8, "little")))
    assert "f" not in load(path).functions


@pytest.mark.needs("clang")
@pytest.mark.parametrize(
    ("field", "what"), [("__TEXT", "encrypted"), ("dysymtab", "relocations of LC_DYSYMTAB")]
)
def test_a_dylib_that_the_system_changes_is_refused(field: str, what: str, tmp_path: Path) -> None:
    """The flags of a segment, and the number of local relocations of LC_DYSYMTAB."""
    path = _dylib(tmp_path)
    command = struct.pack("<II", 11, 80)  # LC_DYSYMTAB and its size
    place = (
        path.read_bytes().index(b"__TEXT\0") + 60
        if field == "__TEXT"
        else 76 + path.read_bytes().index(command)
    )
    _patch(path, (place, b"\x08" if field == "__TEXT" else b"\1"))
    with pytest.raises(LoadError, match=what):
        load(path)


def _dll(folder: Path, more: str = "") -> Path:
    text = f".globl f\nf: ret\n.globl DllMainCRTStartup\nDllMainCRTStartup: ret\n{more}"
    path = folder / "f.dll"
    run(*MINGW, "-shared", "-nostdlib", "-o", path, assemble(MINGW, text, folder))
    assert "f" in load(path).functions
    return path


def _directory(path: Path, number: int) -> int:
    """Return the place of the address and size of a table in the header of a DLL."""
    return int.from_bytes(path.read_bytes()[60:64], "little") + 24 + 112 + 8 * number


@pytest.mark.needs("mingw")
def test_relocations_behind_a_block_of_page_0_are_refused(tmp_path: Path) -> None:
    """lief ends at such a block, so the address of f behind it would count as a number."""
    path = _dll(tmp_path, ".section .rdata\n.p2align 4\n.quad f, f\n")
    parsed: Any = lief.PE.parse(path.read_bytes())  # owns its parts
    section = parsed.get_section(".reloc")
    (block,) = parsed.relocations
    content = struct.pack("<II", 0, 8) + bytes(section.content[: block.block_size])
    _patch(path, (section.pointerto_raw_data, content), (_directory(path, 5) + 4, bytes([len(content)])))
    with pytest.raises(LoadError, match="another size than its blocks"):
        load(path)


@pytest.mark.needs("mingw")
@pytest.mark.parametrize("field", first([112, 120, 280]))
def test_words_that_windows_sets_are_unknown(field: int, tmp_path: Path) -> None:
    """Fields of the load configuration with the address of a pointer in constant data."""
    path = _dll(
        tmp_path,
        f'.section .rdata\nw: .ascii "eightchr"\nc: .long 328\n.skip {field - 4}\n.quad w\n.skip 320\n',
    )
    parsed: Any = lief.PE.parse(path.read_bytes())
    section = parsed.get_section(".rdata")
    place = section.virtual_address + bytes(section.content).index(b"eightchr")
    _patch(path, (_directory(path, 10), struct.pack("<II", place + 8, 328)))
    image = load(path)
    assert image.hole_in(image.base + place, 8) is not None


@pytest.mark.needs("mingw")
@pytest.mark.parametrize("field", first([200, 224]))
def test_a_dll_whose_code_windows_changes_is_refused(field: int, tmp_path: Path) -> None:
    """Fields of the load configuration: code of another machine, and the number of a section with changes."""
    path = _dll(
        tmp_path, f'.section .rdata\n.ascii "eightchr"\nc: .long 328\n.skip {field - 4}\n.quad c\n.skip 320\n'
    )
    parsed: Any = lief.PE.parse(path.read_bytes())
    section = parsed.get_section(".rdata")
    place = section.virtual_address + bytes(section.content).index(b"eightchr")
    _patch(path, (_directory(path, 10), struct.pack("<II", place + 8, 328)))
    with pytest.raises(LoadError, match="changes of code"):
        load(path)


@pytest.mark.needs("mingw")
def test_a_forwarded_export_is_not_the_function(tmp_path: Path) -> None:
    """Windows takes an address in the table of exports for the name of another library's function."""
    path = _dll(tmp_path)
    _patch(path, (_directory(path, 0) + 4, (1 << 20).to_bytes(4, "little")))
    start = int.from_bytes(path.read_bytes()[_directory(path, 0) :][:4], "little")
    assert load(path).functions["f"].address < load(path).base + start  # so far not in the table
    parsed: Any = lief.PE.parse(path.read_bytes())
    table = parsed.get_section(".edata").pointerto_raw_data + 40  # behind the header: the address of f
    _patch(path, (table, (start + 64).to_bytes(4, "little")))
    assert load(path).disputed == {"f"}


@pytest.mark.needs("clang")
@pytest.mark.parametrize("option", ["/EXPORT:f=g", "-section:.text,ERW", "/merge:.rdata=.data"])
def test_options_of_the_linker_in_an_object_are_refused(option: str, tmp_path: Path) -> None:
    text = '.globl f\nf: ret\n.section .drectve, "yni"\n.ascii " {}"\n'
    assert "f" in load(assemble(COFF, text.format("-export:f"), tmp_path)).functions
    with pytest.raises(LoadError, match="linker's option"):
        load(assemble(COFF, text.format(option), tmp_path))


@pytest.mark.needs("mingw")
@pytest.mark.parametrize("field", [16, 20])
def test_places_that_windows_rounds_are_refused(field: int, tmp_path: Path) -> None:
    """Fields of a section's header: 16 is the size in the file, 20 the place there."""
    path = _dll(tmp_path)
    place = path.read_bytes().index(b".text\0") + field
    value = int.from_bytes(path.read_bytes()[place : place + 4], "little")
    _patch(path, (place, (value - 16).to_bytes(4, "little")))
    with pytest.raises(LoadError, match=r"section \.text is not aligned in the file"):
        load(path)
