#!/usr/bin/env python3
"""Comparison of the kernels in built files with the SHA-256 digests of the proved machine code.

    python3 check_linked.py MANIFEST.json build/libgfsmith.a build/libgfsmith.so

A file is an object, an archive, a shared library or a program: ELF, Mach-O, COFF or PE. MANIFEST.json is the
list that `gfsmith gen` or `gfsmith export` wrote. The exit status is 0 if all functions have the proved code
and 1 if one differs or is missing; the message names the first one. docs/build.md states the limits.

The script is one file and needs the standard library of Python 3.9 only, so that build systems can run it.
"""

from __future__ import annotations

import argparse
import bisect
import hashlib
import json
import struct
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ENDBR64 = b"\xf3\x0f\x1e\xfa"  #: the first instruction of every kernel for x86-64
CALL = (
    b"\x02\x00\x00\x94"  #: bl: in Go's programs for arm64, the call of a kernel that begins a word behind it
)
FILLER = b"\xcc"  #: the padding of Go's linker, which counts as a part of the function
#: Calling conventions by the beginnings of their names: those of x86-64, and the two of AArch64.
SYSV, MS, ARM64 = ("sysv",), ("ms",), ("aapcs64-", "go-arm64-")
Convention = tuple[str, ...]
X86_ELF = 62
#: The machine in a file's header -> the convention.
ELF = {X86_ELF: SYSV, 183: ARM64}
MACHO = {0x01000007: SYSV, 0x0100000C: ARM64}
COFF = {0x8664: MS, 0xAA64: ARM64}
_SHF_WRITE, _SHF_EXECINSTR = 1, 4
_ET_REL = 1
_SHT_SYMTAB, _SHT_RELA, _SHT_NOBITS, _SHT_REL, _SHT_DYNSYM = 2, 4, 8, 9, 11
_CODE_FLAGS_MACHO = 0x80000400
_EXECUTE_COFF, _WRITE_COFF = 0x20000000, 0x80000000


Row = tuple[Any, ...]  #: the fields of a structure


class Wrong(Exception):
    """A difference from the proved code, or a file that cannot be compared."""


class Section(NamedTuple):
    """A section. relocated: pairs (first, end) of bytes that a linker or loader changes, sorted."""

    address: int
    data: memoryview
    executable: bool
    writable: bool
    relocated: list[tuple[int, int]]


class Function(NamedTuple):
    """A symbol that names code. offset: its place in the section. size: 0 if the format does not state it."""

    name: str
    section: Section
    offset: int
    size: int


class Image(NamedTuple):
    """An object or a linked file. abi: its calling convention, None for other machines."""

    abi: Convention | None
    sections: list[Section]
    functions: list[Function]


def _text(data: memoryview, at: int) -> str:
    """Return the string at an offset, which a zero byte ends."""
    end = at
    while end < len(data) and data[end]:
        end += 1
    return bytes(data[at:end]).decode("utf-8", "replace")


def _records(data: memoryview, form: str, start: int, count: int, step: int = 0) -> Iterator[Row]:
    """Yield `count` structures, every `step` bytes (the size of the structure by default)."""
    step = step or struct.calcsize(form)
    for at in range(start, start + count * step, step):
        yield struct.unpack_from(form, data, at)


def _pairs(headers: list[Row], sections: list[Section]) -> Iterator[tuple[Row, Section]]:
    return ((header, sections[number]) for number, header in enumerate(headers))


# --- ELF ---------------------------------------------------------------------------------------------------


def elf(data: memoryview) -> Image:
    """Return the contents of an ELF file of either width and byte order."""
    wide, order = data[4] == 2, "<" if data[5] == 1 else ">"
    kind, machine = struct.unpack_from(order + "HH", data, 16)
    if machine == X86_ELF and not wide:
        raise Wrong("code of x86-64 in a 32-bit ELF file (x32)")
    (table,) = struct.unpack_from(order + ("Q" if wide else "I"), data, 40 if wide else 32)
    size, count = struct.unpack_from(order + "HH", data, 58 if wide else 46)
    header = order + ("IIQQQQIIQQ" if wide else "10I")
    if table and not count:  # more than 65,279 sections: the number is in the first header
        count = struct.unpack_from(header, data, table)[5]
    headers = list(_records(data, header, table, count, size))
    sections = [
        Section(
            address=h[3],
            data=data[h[4] : h[4] + h[5]] if h[1] != _SHT_NOBITS else data[:0],
            executable=bool(h[2] & _SHF_EXECINSTR),
            writable=bool(h[2] & _SHF_WRITE),
            relocated=[],
        )
        for h in headers
    ]
    if wide:
        _elf_relocations(order, kind, headers, sections)
    functions = list(_elf_functions(order, kind, headers, sections)) if machine else []
    return Image(ELF.get(machine), sections, functions)


def _elf_functions(order: str, kind: int, headers: list[Row], sections: list[Section]) -> Iterator[Function]:
    for header, section in _pairs(headers, sections):
        if header[1] not in (_SHT_SYMTAB, _SHT_DYNSYM):
            continue
        names = sections[header[6]].data
        form = order + ("I2xHQQ" if header[9] == 24 else "I8x2xH")
        for name, index, *where in _records(
            section.data, form, 0, len(section.data) // struct.calcsize(form)
        ):
            value, size = where or (0, 0)  # no machine code of 32 bits has a digest
            if 0 < index < len(sections) and sections[index].executable:
                base = 0 if kind == _ET_REL else sections[index].address
                yield Function(_text(names, name), sections[index], value - base, size)


def _elf_relocations(order: str, kind: int, headers: list[Row], sections: list[Section]) -> None:
    """Enter the relocations. In an object they belong to the section `info`, elsewhere to an address."""
    linked = sorted((s.address, n) for n, s in enumerate(sections) if s.executable)
    for header, section in _pairs(headers, sections):
        if header[1] not in (_SHT_RELA, _SHT_REL):
            continue
        form = order + ("QQq" if header[1] == _SHT_RELA else "QQ")
        for row in _records(section.data, form, 0, len(section.data) // struct.calcsize(form)):
            width = 8 if row[1] & 0xFFFFFFFF == 1 else 4  # R_X86_64_64
            target, start = header[7], row[0]
            if kind != _ET_REL:
                place = bisect.bisect_right(linked, (start, len(sections))) - 1
                if place < 0:
                    continue
                target = linked[place][1]
                start -= sections[target].address
            sections[target].relocated.append((start, start + width))
    for section in sections:
        section.relocated.sort()


# --- Mach-O ------------------------------------------------------------------------------------------------


def macho(data: memoryview) -> Image:
    """Return the contents of a 64-bit Mach-O file."""
    machine, _, _, count = struct.unpack_from("<4I", data, 4)
    sections: list[Section] = []
    functions: list[Function] = []
    at = 32
    for _ in range(count):
        command, size = struct.unpack_from("<II", data, at)
        if command == 0x19:  # LC_SEGMENT_64
            (protection, number) = struct.unpack_from("<II", data, at + 60)
            sections += _macho_sections(data, at + 72, number, bool(protection & 2))
        if command == 2:  # LC_SYMTAB
            where, number, names, length = struct.unpack_from("<4I", data, at + 8)
            strings = data[names : names + length]
            for name, kind, index, _, value in _records(data, "<IBBHQ", where, number):
                if kind & 0xEE == 0x0E and 0 < index <= len(sections):  # N_SECT, no entry for a debugger
                    section = sections[index - 1]
                    symbol = _text(strings, name)
                    symbol = symbol[1:] if symbol.startswith("_") else symbol
                    functions.append(Function(symbol, section, value - section.address, 0))
        at += size
    return Image(MACHO.get(machine), sections, functions)


def _macho_sections(data: memoryview, at: int, count: int, writable: bool) -> Iterator[Section]:
    """Yield the sections of a segment. The one segment of an object has all rights."""
    kind = struct.unpack_from("<I", data, 12)[0]
    form = "<16s16sQQIIIIIIII"
    for _, _, address, size, offset, _, where, number, flags, _, _, _ in _records(data, form, at, count):
        rows = ((a, 1 << (info >> 25 & 3)) for a, info in _records(data, "<II", where, number))
        relocated = sorted((start, start + width) for start, width in rows)
        code = bool(flags & _CODE_FLAGS_MACHO)
        yield Section(address, data[offset : offset + size], code, writable and kind != 1, relocated)


def universal(data: memoryview) -> Iterator[memoryview]:
    """Yield the files for single machines in a universal file of macOS."""
    count = struct.unpack_from(">I", data, 4)[0]
    for _, _, offset, size, _ in _records(data, ">5I", 8, count):
        yield data[offset : offset + size]


# --- COFF and PE -------------------------------------------------------------------------------------------


def coff(data: memoryview, start: int) -> Image:
    """Return the contents of a COFF object (start: 0) or of a PE file (start: the place of its header)."""
    machine, count, _, symbols, number, optional, _ = struct.unpack_from("<HHIIIHH", data, start)
    strings = data[symbols + 18 * number :]
    headers = list(_records(data, "<8s6I2HI", start + 20 + optional, count))
    sections = [
        Section(
            address=h[2],
            data=data[h[4] : h[4] + h[3]],
            executable=bool(h[9] & _EXECUTE_COFF),
            writable=bool(h[9] & _WRITE_COFF),
            relocated=_coff_relocations(data, h[5], h[7]),
        )
        for h in headers
    ]
    for header, section in _pairs(headers, sections):
        if start and header[0].startswith(b".reloc"):
            _base_relocations(section.data, sections)
    functions = []
    skip = 0
    for name, value, index, _, kind, more in _records(data, "<8sIhHBB", symbols, number) if symbols else ():
        if skip:  # an auxiliary record
            skip -= 1
            continue
        skip = more
        if kind in (2, 3) and 0 < index <= len(sections) and sections[index - 1].executable:
            long = struct.unpack_from("<II", name)
            symbol = (
                _text(strings, long[1]) if long[0] == 0 else name.rstrip(b"\0").decode("utf-8", "replace")
            )
            functions.append(Function(symbol, sections[index - 1], value, 0))
    return Image(COFF.get(machine), sections, functions)


def _coff_relocations(data: memoryview, where: int, count: int) -> list[tuple[int, int]]:
    if count == 0xFFFF:  # the number does not fit; the first entry has it
        count = struct.unpack_from("<I", data, where)[0]
    rows = _records(data, "<IIH", where, count) if where else iter(())
    return sorted((at, at + (8 if kind == 1 else 4)) for at, _, kind in rows)


def _base_relocations(blocks: memoryview, sections: list[Section]) -> None:
    at = 0
    while at + 8 <= len(blocks):
        page, size = struct.unpack_from("<II", blocks, at)
        if size < 8:
            break
        for (entry,) in _records(blocks, "<H", at + 8, min(size - 8, len(blocks) - at - 8) // 2):
            place = page + (entry & 0xFFF)
            for section in sections if entry >> 12 else ():
                if section.address <= place < section.address + len(section.data):
                    bisect.insort(section.relocated, (place - section.address, place - section.address + 8))
        at += size


# --- Files -------------------------------------------------------------------------------------------------


def images(path: Path, data: memoryview) -> Iterator[Image]:
    """Yield the object or linked file, or all of them in an archive."""
    start = bytes(data[:8])
    if start in (b"!<arch>\n", b"!<thin>\n"):
        for member in members(path, data, thin=start == b"!<thin>\n"):
            yield from images(path, member)
    elif start[:4] == b"\xca\xfe\xba\xbe":
        for part in universal(data):
            yield from images(path, part)
    elif start[:4] == b"\x7fELF":
        yield elf(data)
    elif start[:4] == b"\xcf\xfa\xed\xfe":
        yield macho(data)
    elif start[:2] == b"MZ":
        yield coff(data, struct.unpack_from("<I", data, 60)[0] + 4)
    elif start[:2] in (b"\x64\x86", b"\x64\xaa"):
        yield coff(data, 0)
    elif start[:2] != b"BC" and start[:4] != b"\xde\xc0\x17\x0b":  # intermediate code of LLVM has no kernels
        raise Wrong("neither ELF nor Mach-O nor COFF nor PE")


def members(path: Path, data: memoryview, thin: bool) -> Iterator[memoryview]:
    """Yield the members of an archive. A thin archive has only their names."""
    long = data[:0]
    at = 8
    while at + 60 <= len(data):
        name = bytes(data[at : at + 16]).decode("ascii", "replace").rstrip()
        size = int(bytes(data[at + 48 : at + 58]))
        at += 60
        index = name in ("/", "/SYM64/")
        if index or name == "//" or not thin:
            content = data[at : at + size]
            at += size + size % 2
        if name == "//":
            long = content
        elif thin and not index:
            own = _text(long, int(name[1:])).split("\n")[0] if name[1:].isdigit() else name
            yield _read(path.parent / own.rstrip("/"))
        elif not index:
            if name.startswith("#1/"):  # BSD: the name precedes the content
                name, content = _text(content[: int(name[3:])], 0), content[int(name[3:]) :]
            if not name.startswith("__.SYMDEF"):
                yield content


def _read(path: Path) -> memoryview:
    try:
        return memoryview(path.read_bytes())
    except OSError as error:
        raise Wrong(f"cannot read {path}: {error.strerror}") from None


# --- Comparison --------------------------------------------------------------------------------------------


class Code(NamedTuple):
    """The proved machine code of a kernel."""

    size: int
    sha256: str


def proved(manifest: dict[str, Any], abi: Convention, isas: Sequence[str]) -> dict[str, Code]:
    """Return symbol -> proved code of the kernels in machine code, of these instruction sets or of all."""
    return {
        kernel["symbol"]: Code(code["bytes"], code["sha256"])
        for kernel in manifest["kernels"]
        for name, code in kernel.get("code", {}).items()
        if name.startswith(abi) and (not isas or kernel["isa"] in isas)
    }


def difference(function: Function, code: Code) -> str:
    """Return the reason why a function is not the proved one, or ""."""
    size, digest = code
    start, end = function.offset, function.offset + size
    stated = function.offset + max(function.size, size)
    found = bytes(function.section.data[start:stated]) if start >= 0 else b""
    if hashlib.sha256(found[:size]).hexdigest() != digest or found[size:].strip(FILLER):
        return "its machine code is not the proved one"
    if function.section.writable:
        return "it is in a writable section"
    if any(first < end and last > start for first, last in function.section.relocated):
        return "a relocation changes it"
    return ""


def search(image: Image, code: dict[str, Code]) -> set[str]:
    """Return the symbols whose code occurs anywhere in an image, as often as it has symbols.

    A file may have no symbols, and Go has kernels inside other functions. Of the kernels for AArch64 only
    those in Go's programs are found.
    """
    mark, ahead = (CALL, 2 * len(CALL)) if image.abi == ARM64 else (ENDBR64, 0)
    wanted: dict[Code, list[str]] = {}
    for symbol, known in code.items():
        wanted.setdefault(known, []).append(symbol)
    sizes = sorted({size for size, _ in wanted})
    found: list[str] = []
    for section in image.sections:
        data = bytes(section.data) if section.executable and not section.writable else b""
        found_at = data.find(mark)
        while found_at >= 0:
            at = found_at + ahead
            digest, done = hashlib.sha256(), at
            for size in sizes:
                if at + size > len(data):
                    break
                digest.update(data[done : at + size])
                done = at + size
                left = wanted.get(Code(size, digest.hexdigest()))
                found += [left.pop()] if left else []
            found_at = data.find(mark, found_at + 1)
    return set(found)


def check(path: Path, manifest: dict[str, Any], isas: Sequence[str]) -> str:
    """Return the message for a file whose kernels are the proved ones. Raises Wrong."""
    found = list(images(path, _read(path)))
    if not found:
        raise Wrong("no machine code; compare the linked library or program instead")
    names = {function.name for image in found for function in image.functions}
    compiled = sum(k["symbol"] in names for k in manifest["kernels"] if not k.get("code"))
    wanted: set[str] = set()
    seen: set[str] = set()
    wrong: list[str] = []
    for image in found:
        code = proved(manifest, image.abi, isas) if image.abi else {}
        wanted |= set(code)
        for function in image.functions:
            if function.name in code:
                seen.add(function.name)
                reason = difference(function, code[function.name])
                wrong += [f"{function.name}: {reason}"] if reason else []
    missing = wanted - seen
    for image in found if missing else ():
        code = proved(manifest, image.abi, isas) if image.abi else {}
        missing -= search(image, {symbol: code[symbol] for symbol in missing & set(code)})
    wrong += [f"{symbol}: its proved machine code is not in the file" for symbol in sorted(missing)]
    wrong = list(dict.fromkeys(wrong))
    if wrong:
        further = f" ({len(wrong) - 1} more)" if len(wrong) > 1 else ""
        raise Wrong(wrong[0] + further)
    functions = f"{len(wanted)} function{'s' * (len(wanted) != 1)}"
    if wanted and not seen:
        return f"{functions} found by their bytes (no symbols), those compiled from C not counted"
    return f"{functions} compared, {compiled} compiled from C"


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare files and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("manifest", type=Path, help="MANIFEST.json of `gfsmith gen` or `gfsmith export`")
    parser.add_argument("files", nargs="+", type=Path, help="objects, archives, libraries, programs")
    parser.add_argument("--isa", action="append", default=[], help="only this instruction set; repeatable")
    parser.add_argument("--stamp", type=Path, help="create this file if all functions are the proved ones")
    options = parser.parse_args(arguments)
    path = options.manifest
    try:
        manifest = json.loads(bytes(_read(path)))
        for path in options.files:
            print(f"{path}: {check(path, manifest, options.isa)}")
    except Wrong as reason:
        print(f"check_linked.py: {path}: {reason}", file=sys.stderr)
        return 1
    except (struct.error, ValueError, KeyError, IndexError, TypeError) as error:
        print(f"check_linked.py: {path}: cannot be read: {error!r}", file=sys.stderr)
        return 1
    if options.stamp:
        options.stamp.touch()
    return 0


if __name__ == "__main__":
    sys.exit(main())
