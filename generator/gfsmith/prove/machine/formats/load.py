"""Object files, archives and libraries -> Image.

The first bytes of a file determine its kind: ELF for the machines of elf.py, Mach-O, COFF and PE for x86-64,
linked modules of WebAssembly, and archives of them (ar). This package lays out and relocates a relocatable
object; see `image.Builder`.
Every unsupported construct is a LoadError of one line.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import arpy
import lief
from elftools.common.exceptions import DWARFError, ELFError
from elftools.construct import ConstructError

from gfsmith.prove.machine.formats import coff, elf, macho, wasm
from gfsmith.prove.machine.formats.image import Function, Hole, Image, LoadError, Segment, raw

__all__ = [
    "Function",
    "Hole",
    "Image",
    "LoadError",
    "Segment",
    "functions_of",
    "load",
    "load_symbol",
    "members_with",
    "raw",
]

_ARCHIVE = b"!<arch>\n"
_MEMBER_HEADER = 60
_BSD_INDEX = b"__.SYMDEF"  #: the name of the first member, if it is an index
_MACHO = (b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\xca\xfe\xba\xbf")
_COFF_AMD64 = b"\x64\x86"
_BIG_COFF = b"\x00\x00\xff\xff"
#: Exceptions that the parsers raise on damaged files.
_DAMAGE = (
    ELFError,
    DWARFError,
    ConstructError,
    arpy.ArchiveFormatError,
    struct.error,
    ValueError,
    LookupError,
    AttributeError,
    TypeError,
    OverflowError,
    AssertionError,
)

lief.logging.disable()


def load(path: Path, member: str | None = None) -> Image:
    """Return the image of an object file or library, or of one member of an archive.

    Args:
        path: .o, .obj, .so, .dylib, .dll, .wasm, or an archive (.a, .lib).
        member: the name of the archive's member; may be omitted if there is only one.

    Raises:
        LoadError: the file cannot be loaded faithfully: other machine, unknown relocation, damage.
    """
    data = _contents(path)
    if not data.startswith(_ARCHIVE):
        if member is not None:
            raise LoadError(f"{path}: not an archive")
        return _parse(str(path), data)
    members = list(_members(path, data))
    chosen = [found for found in members if member is None or found[0] == member]
    if len(chosen) != 1:
        what = f"{len(chosen)} members" + (f" are called {member}" if member is not None else "")
        raise LoadError(f"{path}: {what}; name the symbol or member")
    name, content = chosen[0]
    return _parse(f"{path}({name})", content)


def load_symbol(path: Path, symbol: str) -> Image:
    """Return the image of a file, or of the only member of an archive, that defines the function `symbol`.

    Raises:
        LoadError: no member defines it, several members do, or its member cannot be loaded.
    """
    data = _contents(path)
    if not data.startswith(_ARCHIVE):
        candidates = iter([(str(path), data)])
    else:
        candidates = ((f"{path}({name})", content) for name, content in _members(path, data))
    found: list[Image] = []
    for what, content in candidates:
        # A symbol's name stands in the file as it is: most members need not be parsed.
        if symbol.encode() in content:
            image = _parse(what, content)
            if symbol in image.functions or symbol in image.disputed:
                found.append(image)
    if not found:
        raise LoadError(f"{path}: no function {symbol}")
    if len(found) != 1 or symbol in found[0].disputed:
        several = "several definitions, or one that others may replace"
        raise LoadError(f"{path}: no single function {symbol}: {several}")
    return found[0]


def members_with(path: Path, symbols: frozenset[str]) -> dict[str | None, set[str]]:
    """Return the requested functions that a file defines, by archive member (None: the file is no archive).

    Raises:
        LoadError: the file cannot be read, or is damaged.
    """
    found = ((name, set(symbols) & mine) for name, mine in _functions(path))
    return {name: mine for name, mine in found if mine}


def functions_of(path: Path) -> set[str]:
    """Return all functions that a file, or a member of an archive, defines.

    Raises:
        LoadError: the file cannot be read, or is damaged.
    """
    return {function for _, mine in _functions(path) for function in mine}


def _functions(path: Path) -> Iterator[tuple[str | None, set[str]]]:
    """Yield member (None: the file is no archive) and functions."""
    data = _contents(path)
    if not data.startswith(_ARCHIVE):
        yield None, _defined(str(path), data)
        return
    for name, content in _members(path, data):
        yield name, _defined(f"{path}({name})", content)


def _defined(what: str, data: bytes) -> set[str]:
    """Return the functions of one object or library, with names that are not those of one function."""
    if not data.startswith(b"\x7fELF"):
        image = _parse(what, data)
        return set(image.functions) | image.disputed
    try:
        return elf.defined(data)
    except _DAMAGE as error:
        raise LoadError(f"{what}: damaged file ({type(error).__name__})") from error


def _contents(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise LoadError(f"{path}: {error.strerror}") from error


def _members(path: Path, data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield name and contents of the members of an archive, in their order."""
    try:
        archive = arpy.Archive(fileobj=BytesIO(data))
        members = archive.infolist()
        _check_archive(path, data, archive.headers, {header.offset for header in members})
        indexed = bool(members) and members[0].name.startswith(_BSD_INDEX)
        for header in members[indexed:]:
            yield header.name.decode("utf-8", "replace"), archive.open(header).read()
    except _DAMAGE as error:
        raise LoadError(f"{path}: damaged archive") from error


def _check_archive(path: Path, data: bytes, headers: list[arpy.ArchiveFileHeader], members: set[int]) -> None:
    """Raise LoadError for an archive in which a linker may see other members: a size with other characters
    than digits, a table behind the first member, an index with the place of no member."""
    first = min(members, default=len(data))
    for header in headers:
        size = data[header.offset + 48 : header.offset + 58]  # <ar.h>: ar_size
        if not size.strip(b" ").isdigit() or (header.offset not in members and header.offset > first):
            raise LoadError(f"{path}: an archive that linkers may read differently")
    head = data[len(_ARCHIVE) :]
    width = 8 if head.startswith(b"/SYM64/ ") else 4 if head.startswith(b"/ ") else 0
    index = data[len(_ARCHIVE) + _MEMBER_HEADER :]
    count = int.from_bytes(index[:width], "big")
    places = (int.from_bytes(index[n * width : (n + 1) * width], "big") for n in range(1, count + 1))
    if not all(place in members for place in places):
        raise LoadError(f"{path}: the index of the archive names a place that has no member")


def _parse(what: str, data: bytes) -> Image:
    """Return the image of the bytes of one object or library."""
    try:
        if data.startswith(b"\x7fELF"):
            return elf.Reader(what, data).image()
        if data.startswith(wasm.MAGIC):
            return wasm.load(what, data)
        if data[:4] in _MACHO:
            return macho.load(what, data)
        if data.startswith(b"MZ"):
            return coff.load_image(what, data)
        if data.startswith((_COFF_AMD64, _BIG_COFF)):
            return coff.load_object(what, data)
    except _DAMAGE as error:
        raise LoadError(f"{what}: damaged file ({type(error).__name__})") from error
    raise LoadError(f"{what}: neither ELF nor Mach-O nor COFF for x86-64, nor WebAssembly")
