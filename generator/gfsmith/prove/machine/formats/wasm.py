"""Linked WebAssembly modules -> Image.

The sections, types, functions, exports and names are read here (WebAssembly Core Specification 2.0, chapter
5). A function has the names of the section of names and those under which the module exports it.
wasm-objdump of WABT, the toolkit of the WebAssembly organisation, decodes the instructions. An address is an
offset in the file.
"""

from __future__ import annotations

import re
import subprocess
from bisect import bisect_left
from collections import Counter
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from gfsmith.prove.machine.formats.image import (
    Function,
    Image,
    Line,
    Listing,
    LoadError,
    Piece,
    Segment,
)
from gfsmith.prove.machine.wasm.registers import MACHINE

MAGIC = b"\0asm\x01\0\0\0"
_TOOL = "wasm-objdump"
_CUSTOM, _TYPE, _IMPORT, _FUNCTION, _MEMORY, _EXPORT, _CODE = 0, 1, 2, 3, 5, 7, 10
_EXPORTED_FUNCTION = 0
_NAMES, _FUNCTION_NAMES, _PRODUCERS, _PROCESSED_BY = "name", 1, "producers", "processed-by"
_TYPES = {
    0x7F: "i32",
    0x7E: "i64",
    0x7D: "f32",
    0x7C: "f64",
    0x7B: "v128",
    0x70: "funcref",
    0x6F: "externref",
}
_FUNCTION_TYPE = 0x60
#: More local variables than any engine accepts.
_MOST_VARIABLES = 50_000
_LINE = re.compile(r" ([0-9a-f]{6,}): ((?:[0-9a-f]{2} )+) *\| *(.*)")


class _Bytes:
    """Reading of numbers, names and lists from [at, end) of a module."""

    def __init__(self, data: bytes, at: int, end: int) -> None:
        self.data, self.at, self.end = data, at, end

    def take(self, size: int) -> bytes:
        found = self.data[self.at : self.at + size]
        if self.at + size > self.end:
            raise ValueError("a section ends too early")
        self.at += size
        return found

    def number(self) -> int:
        """Return an unsigned LEB128 number of 32 bits."""
        value = shift = 0
        while shift < 35:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value
        raise ValueError("a number has more than five bytes")

    def text(self) -> str:
        return self.take(self.number()).decode("utf-8")

    def types(self) -> tuple[str, ...]:
        return tuple(self.type() for _ in range(self.number()))

    def type(self) -> str:
        return _TYPES[self.take(1)[0]]

    def part(self) -> _Bytes:
        """Return the next bytes, whose number stands before them."""
        size = self.number()
        start = self.at
        self.take(size)
        return _Bytes(self.data, start, self.at)


class _Name(NamedTuple):
    """A name of a function. number: of the function."""

    text: str
    number: int


class _Sections(NamedTuple):
    """The sections of a module by number, the names of its functions, its compilers, and the module without
    these names."""

    parts: dict[int, _Bytes]
    names: set[_Name]
    producer: str
    bare: bytes


class _Body(NamedTuple):
    """The code of a function: the types of its variables, and the place of its instructions."""

    variables: tuple[str, ...]
    start: int
    end: int


def load(what: str, data: bytes) -> Image:
    """Return the image of a linked module. Raises LoadError, or ValueError or LookupError for a damaged
    module."""
    found = _sections(what, data)
    sections = found.parts
    missing = {_TYPE, _FUNCTION, _MEMORY, _CODE} - sections.keys()
    if _IMPORT in sections or missing:
        raise LoadError(f"{what}: only a module with code, with a memory and without imports can be loaded")
    if sections[_MEMORY].number() != 1:
        raise LoadError(f"{what}: a module with several memories cannot be loaded")
    code = sections[_CODE]
    segment = Segment(code.at, data[code.at : code.end], writable=False, executable=True, name="code")
    types, numbers = _function_types(sections[_TYPE]), sections[_FUNCTION]
    signatures = [types[numbers.number()] for _ in range(numbers.number())]
    bodies = _bodies(code)
    lines = _disassembled(what, found.bare)
    listings, functions = {}, {}
    names = found.names | (_exports(sections[_EXPORT]) if _EXPORT in sections else set())
    for name, number in _unique(names):
        body, (parameters, results) = bodies[number], signatures[number]
        listings[name] = Listing(parameters, results, body.variables, _lines_of(what, lines, body))
        functions[name] = Function(name, body.start, body.end - body.start)
    return Image(
        "wasm",
        MACHINE,
        (segment,),
        functions,
        producer=found.producer,
        pieces=(Piece(segment.address, segment.end, 1, True),),
        disputed=frozenset({name.text for name in names} - functions.keys()),
        listings=listings,
    )


def _sections(what: str, data: bytes) -> _Sections:
    """Return the sections. Raises LoadError for an object that is not linked."""
    whole = _Bytes(data, len(MAGIC), len(data))
    parts: dict[int, _Bytes] = {}
    names: set[_Name] = set()
    producer, bare = "", bytearray(data)
    while whole.at < whole.end:
        kind = whole.take(1)[0]
        part = whole.part()
        if kind != _CUSTOM:
            if kind in parts:
                raise LoadError(f"{what}: two sections of number {kind}")
            parts[kind] = part
            continue
        bare[part.at : part.end] = bytes(part.end - part.at)
        title = part.text()
        if title == "linking" or title.startswith("reloc."):
            raise LoadError(f"{what}: an object that is not linked; link it into a module")
        if title == _NAMES:
            names |= _function_names(part)
        elif title == _PRODUCERS:
            producer = _compilers(part)
    return _Sections(parts, names, producer, bytes(bare))


def _exports(part: _Bytes) -> set[_Name]:
    """Return the names under which a module exports functions (Core Specification, 5.5.10)."""
    found = set()
    for _ in range(part.number()):
        text, kind, number = part.text(), part.take(1)[0], part.number()
        if kind == _EXPORTED_FUNCTION:
            found.add(_Name(text, number))
    return found


def _function_names(part: _Bytes) -> set[_Name]:
    """Return the names in the section of names (Core Specification, 7.4.1)."""
    names = set()
    while part.at < part.end:
        kind = part.take(1)[0]
        inner = part.part()
        if kind == _FUNCTION_NAMES:
            for _ in range(inner.number()):
                number = inner.number()
                names.add(_Name(inner.text(), number))
    return names


def _compilers(part: _Bytes) -> str:
    """Return the programs that a module names with their versions (tool-conventions, "Producers section")."""
    found = []
    for _ in range(part.number()):
        kind = part.text()
        programs = [f"{part.text()} {part.text()}" for _ in range(part.number())]
        found += programs if kind == _PROCESSED_BY else []
    return "; ".join(found)


def _function_types(part: _Bytes) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return parameters and results of every type."""
    found = []
    for _ in range(part.number()):
        if part.take(1)[0] != _FUNCTION_TYPE:
            raise ValueError("a type that is no function's")
        found.append((part.types(), part.types()))
    return found


def _bodies(part: _Bytes) -> list[_Body]:
    found = []
    for _ in range(part.number()):
        body = part.part()
        variables: list[str] = []
        for _ in range(body.number()):
            count, kind = body.number(), body.type()
            if len(variables) + count > _MOST_VARIABLES:
                raise ValueError("too many local variables")
            variables += [kind] * count
        found.append(_Body(tuple(variables), body.at, body.end))
    return found


def _unique(names: set[_Name]) -> set[_Name]:
    """Return the names of only one function each."""
    count = Counter(name.text for name in names)
    return {name for name in names if count[name.text] == 1}


def _disassembled(what: str, data: bytes) -> list[Line]:
    """Return all instructions of a module without names. Raises LoadError unless the addresses increase and
    the bytes are those of the module: so no name of an export can pass for an instruction."""
    lines: list[Line] = []
    for text in _output(what, data).split("\n"):
        found = _LINE.fullmatch(text)
        if found is None:
            continue
        address, content = int(found[1], 16), bytes.fromhex(found[2])
        end = lines[-1].address + lines[-1].size if lines else 0
        if address < end or data[address : address + len(content)] != content:
            raise LoadError(f"{what}: {_TOOL} decodes other bytes than those of the module")
        if found[3]:
            lines.append(Line(address, len(content), found[3].strip()))
        elif lines and address == end:  # the further bytes of a long instruction
            lines[-1] = lines[-1]._replace(size=lines[-1].size + len(content))
    return lines


def _output(what: str, data: bytes) -> str:
    """Return the output of the disassembler for a module."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "module.wasm"
        path.write_bytes(data)
        try:
            done = subprocess.run([_TOOL, "-d", path], capture_output=True, check=False)
        except FileNotFoundError:
            raise LoadError(f"{what}: {_TOOL} is not installed; Debian's package wabt has it") from None
    if done.returncode or done.stderr:
        raise LoadError(f"{what}: {_TOOL} cannot decode the module")
    return done.stdout.decode("utf-8", "replace")


def _lines_of(what: str, lines: list[Line], body: _Body) -> tuple[Line, ...]:
    """Return the instructions of a function. Raises LoadError if they leave a byte out."""
    first = bisect_left(lines, body.start, key=attrgetter("address"))
    last = bisect_left(lines, body.end, key=attrgetter("address"))
    at = body.start
    for line in lines[first:last]:
        if line.address != at:
            break
        at += line.size
    if at != body.end or at == body.start:
        raise LoadError(f"{what}: {_TOOL} does not decode the code at {at:#x}")
    return tuple(lines[first:last])
