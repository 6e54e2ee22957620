"""Machine code laid out in memory: the common form of all file formats, and its builder.

An `Image` is a file as a loader would map it: segments with their final bytes. `Builder` lays
sections out and applies relocations; the readers (`elf.py`, `coff.py`, `macho.py`) drive it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import gcd
from operator import attrgetter
from typing import Literal, NamedTuple

#: The order of the bytes of a number.
ByteOrder = Literal["little", "big"]
#: Base address of relocatable code: below 2^31, so that every relocation of the small code model fits.
BASE = 0x1000_0000
#: Sections start at a multiple of this.
PAGE = 0x1000
#: At least so many unmapped bytes lie between two sections.
GUARD = 0x10000
#: No file with more bytes of sections than this is loaded.
MAX_BYTES = 1 << 30


class LoadError(Exception):
    """A file that cannot be loaded faithfully; the message is one line."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of bytes in memory: [address, address + len(data))."""

    address: int
    data: bytes
    writable: bool
    executable: bool
    name: str

    @property
    def end(self) -> int:
        return self.address + len(self.data)


@dataclass(frozen=True, slots=True)
class Function:
    """The code of a symbol: [address, address + size), without the padding after it. local: the offset at
    which calls from the same module enter, if it is not 0 (POWER)."""

    symbol: str
    address: int
    size: int
    local: int = 0


class Hole(NamedTuple):
    """Bytes that the linker or the dynamic loader determines: they depend on another file's symbol."""

    address: int
    size: int
    symbol: str


class Piece(NamedTuple):
    """[start, end) of the layout, which a linker moves as a whole, by multiples of `alignment`. final: its
    bytes are those that the linker writes."""

    start: int
    end: int
    alignment: int
    final: bool


class Reference(NamedTuple):
    """A field that the linker fills in: `size` bytes at `place` with the address `goal` of the layout in a
    piece (None: relative to the table of contents).

    part: "relative" (four bytes, relative to the field), "whole", "high" or "low" (bits of the number in an
    instruction), "pointer" (eight bytes), "absolute" (any other number that depends on where the piece is).
    origin: the address that the linker subtracts: "place", "toc", or "" for none.
    """

    place: int
    size: int
    goal: int
    piece: int | None
    part: str
    origin: str = ""


class Moved(NamedTuple):
    """Bytes [address, address + size) of the image, which are [original, original + size) in a table's
    numbers."""

    address: int
    size: int
    original: int


@dataclass(frozen=True, slots=True)
class FrameTable:
    """An .eh_frame section: its bytes, its address and where code lies, both in the table's own numbers.

    `moved` maps the image's addresses to the table's; empty if they are the same.
    """

    address: int
    data: bytes
    moved: tuple[Moved, ...] = ()


class Line(NamedTuple):
    """One instruction of a disassembly: [address, address + size), and its text."""

    address: int
    size: int
    text: str


class Listing(NamedTuple):
    """The disassembly of a function whose instructions depend on those before them (WebAssembly): the types
    of its parameters, results and further local variables, and its instructions."""

    parameters: tuple[str, ...]
    results: tuple[str, ...]
    variables: tuple[str, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Image:
    """Code and data at their addresses.

    Args:
        format: "elf", "coff", "macho", "wasm" or "raw".
        machine: whose code it is: an Architecture's name.
        segments: disjoint, in the order of their addresses.
        functions: symbol -> its code. Symbols of Mach-O are without the leading underscore.
        holes: bytes whose value is not known; `segments` has the bytes of the file there.
        frames: the DWARF unwind tables (ELF, Mach-O).
        base: the origin of the relative addresses in COFF unwind tables.
        producer: the compilers and assemblers that the file names (ELF, WebAssembly).
        pieces: in the order of their addresses; a linked file is one.
        references: by place.
        disputed: names that the file defines, but not as one function that stays.
        listings: the disassembly of each function (WebAssembly).
    """

    format: str
    machine: str
    segments: tuple[Segment, ...]
    functions: dict[str, Function]
    holes: tuple[Hole, ...] = ()
    frames: tuple[FrameTable, ...] = ()
    base: int = 0
    producer: str = ""
    pieces: tuple[Piece, ...] = ()
    references: tuple[Reference, ...] = ()
    disputed: frozenset[str] = frozenset()
    listings: Mapping[str, Listing] = field(default_factory=dict)

    def piece_at(self, address: int) -> int | None:
        """Return the number of the piece that has this address, or ends there."""
        index = bisect_right(self.pieces, address, key=attrgetter("start")) - 1
        return index if index >= 0 and address <= self.pieces[index].end else None

    def references_in(self, address: int, size: int) -> tuple[Reference, ...]:
        """Return the references that have a byte in common with [address, address + size)."""
        if not self.references:
            return ()
        end = bisect_left(self.references, address + size, key=attrgetter("place"))
        near = self.references[
            max(0, bisect_left(self.references, address - 8, key=attrgetter("place"))) : end
        ]
        return tuple(r for r in near if r.place + r.size > address)

    def segment_at(self, address: int) -> Segment | None:
        """Return the segment that has the byte at this address."""
        index = bisect_right(self.segments, address, key=attrgetter("address")) - 1
        if index < 0 or address >= self.segments[index].end:
            return None
        return self.segments[index]

    def read(self, address: int, size: int) -> bytes | None:
        """Return the bytes [address, address + size), or None if they do not lie inside one segment."""
        segment = self.segment_at(address)
        if segment is None or address + size > segment.end:
            return None
        start = address - segment.address
        return segment.data[start : start + size]

    def hole_in(self, address: int, size: int) -> Hole | None:
        """Return a hole that has a byte in common with [address, address + size); None if there is none."""
        overlap = (h for h in self.holes if h.address < address + size and address < h.address + h.size)
        return next(overlap, None)


class Mark(NamedTuple):
    """Start of a function, its size if the file states it (otherwise 0), and Function.local."""

    symbol: str
    address: int
    size: int
    local: int = 0


@dataclass(slots=True)
class Section:
    """A section in the layout: `original` is its address in the file's own numbers."""

    name: str
    address: int
    data: bytearray
    writable: bool
    executable: bool
    original: int = 0
    starts: tuple[int, ...] = (0,)
    alignment: int = 1
    final: bool = True

    @property
    def end(self) -> int:
        return self.address + len(self.data)


#: The alignment of generated kernels: `.p2align 6` in templates/gfsmith_asm.h.j2.
ALIGNMENT = 64


def raw(symbol: str, code: bytes, address: int = 0x10000, machine: str = "x86-64") -> Image:
    """Return the image of machine code without a file, at a multiple of ALIGNMENT."""
    segment = Segment(address, code, writable=False, executable=True, name=".text")
    pieces = (Piece(address, segment.end, ALIGNMENT, True),)
    return Image("raw", machine, (segment,), {symbol: Function(symbol, address, len(code))}, pieces=pieces)


@dataclass(slots=True)
class Builder:
    """The builder of an Image: it lays sections out and patches them. `what` names the file in messages;
    `trim` removes padding from the end of code. disputed: names that a linker may give to another function
    than `marks` does; undefined: names that are defined in other files; filled: the bytes that relocations
    of an object fill in; order: that of the bytes of relocated numbers."""

    what: str
    format: str
    machine: str
    trim: Callable[[bytes], bytes]
    base: int = BASE
    sections: list[Section] = field(default_factory=list)
    holes: list[Hole] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    slots: dict[int, int] = field(default_factory=dict)
    references: list[Reference] = field(default_factory=list)
    disputed: set[str] = field(default_factory=set)
    undefined: set[str] = field(default_factory=set)
    filled: set[int] = field(default_factory=set)
    linked: bool = False
    order: ByteOrder = "little"
    bytes_used: int = 0

    def place(
        self,
        name: str,
        data: bytes,
        *,
        align: int = 1,
        writable: bool = False,
        executable: bool = False,
        original: int = 0,
        size: int | None = None,
        address: int | None = None,
        starts: tuple[int, ...] = (0,),
        final: bool = True,
    ) -> Section:
        """Add a section of `size` bytes (zeros behind `data`), at `address` or where there is room.

        starts: offsets of its pieces; final: as in Piece.
        """
        size = len(data) if size is None else size
        self.bytes_used += size
        if self.bytes_used > MAX_BYTES:
            raise LoadError(f"{self.what}: section {name} makes the file too big ({size} bytes)")
        if address is None:
            step = max(PAGE, align)
            free = max((s.end for s in self.sections), default=self.base - GUARD) + GUARD
            address = (free + step - 1) // step * step
        content = bytearray(data[:size].ljust(size, b"\0"))
        section = Section(
            name, address, content, writable, executable, original, starts, max(1, align), final
        )
        self.sections.append(section)
        return section

    def refer(self, place: int, size: int, target: int, goal: int, part: str, origin: str = "") -> None:
        """Record that the linker fills in a field by the symbol at `target`. Distances within one piece are
        those of the layout and need no record."""
        if part == "relative" and self._piece(place) == self._piece(target):
            return
        self.references.append(Reference(place, size, goal, target, part, origin))

    def _piece(self, address: int) -> tuple[int, int] | None:
        """Return start and end of the piece of a section that has an address, or ends there."""
        for section in self.sections:
            if section.address <= address <= section.end:
                index = bisect_right(section.starts, address - section.address) - 1
                ends = (*section.starts[1:], len(section.data))
                return section.address + section.starts[index], section.address + ends[index]
        return None

    def pieces(self) -> tuple[Piece, ...]:
        """Return the pieces of all sections. A linked file is one piece, which is loaded at a multiple of a
        page."""
        if self.linked and self.sections:
            low = min(section.address for section in self.sections) // PAGE * PAGE
            return (Piece(low, max(section.end for section in self.sections), PAGE, True),)
        found = []
        for section in self.sections:
            ends = (*section.starts[1:], len(section.data))
            for start, end in zip(section.starts, ends, strict=True):
                alignment = gcd(section.alignment, start) if start else section.alignment
                found.append(Piece(section.address + start, section.address + end, alignment, section.final))
        return tuple(sorted(found))

    def section_at(self, address: int, size: int) -> Section:
        """Return the section that has all of [address, address + size). Raises LoadError if none has."""
        for section in self.sections:
            if section.address <= address and address + size <= section.end:
                return section
        raise LoadError(f"{self.what}: a relocation is outside every section")

    def value(self, address: int, size: int) -> int:
        """Return the signed integer at this address."""
        section = self.section_at(address, size)
        start = address - section.address
        return int.from_bytes(section.data[start : start + size], self.order, signed=True)

    def patch(self, address: int, size: int, value: int, signed: bool | None) -> None:
        """Store a relocated value; `signed` None: the value may fit either way. Raises LoadError."""
        low = 0 if signed is False else -(1 << 8 * size - 1)
        high = 1 << 8 * size - (1 if signed else 0)
        if not low <= value < high:
            raise LoadError(f"{self.what}: a relocation at {address:#x} does not fit {size} bytes")
        section = self.section_at(address, size)
        start = address - section.address
        section.data[start : start + size] = (value % (1 << 8 * size)).to_bytes(size, self.order)

    def hole(self, address: int, size: int, symbol: str) -> None:
        """Record that these bytes are not known."""
        self.section_at(address, size)
        self.holes.append(Hole(address, size, symbol))

    def fill(self, address: int, size: int) -> None:
        """Record that one relocation of an object fills in these bytes. Linkers disagree about a second one:
        it replaces the first, or counts from its result. Then the bytes are not known."""
        place = range(address, address + size)
        if not self.filled.isdisjoint(place):
            self.hole(address, size, "several relocations")
        self.filled.update(place)

    def slot(self, index: int, symbol: str, target: int | None) -> int:
        """Return the address of the pointer to the symbol with this index in a global offset table.

        The pointer is a hole if target is None.
        """
        if index not in self.slots:
            section = self.place(".got", bytes(8), align=8)
            self.slots[index] = section.address
            if target is None:
                self.hole(section.address, 8, symbol)
            else:
                self.patch(section.address, 8, target, None)
                self.refer(section.address, 8, target, target, "pointer")
        return self.slots[index]

    def image(self, frames: Iterable[FrameTable] = (), base: int = 0) -> Image:
        """Return the finished image. Raises LoadError if sections overlap."""
        segments = tuple(
            Segment(s.address, bytes(s.data), s.writable, s.executable, s.name)
            for s in sorted(self.sections, key=attrgetter("address"))
            if s.data
        )
        for one, next_one in pairwise(segments):
            if one.end > next_one.address:
                raise LoadError(f"{self.what}: sections {one.name} and {next_one.name} overlap")
        pieces = self.pieces()
        image = Image(
            self.format,
            self.machine,
            segments,
            {},
            tuple(sorted(self.holes)),
            tuple(frames),
            base,
            pieces=pieces,
        )
        references = tuple(sorted(self._resolved(image, reference) for reference in self.references))
        image = replace(image, references=references)
        disputed = self.disputed | (self.undefined & {mark.symbol for mark in self.marks})
        functions = _functions(image, self.marks, self.trim, disputed)
        named = {mark.symbol for mark in self.marks} | self.disputed
        return replace(image, functions=functions, disputed=frozenset(named - functions.keys()))

    def _resolved(self, image: Image, reference: Reference) -> Reference:
        """Return a reference with the number of its piece instead of its symbol's address."""
        if reference.piece is None or reference.piece < 0:
            return reference._replace(piece=None)
        return reference._replace(piece=image.piece_at(reference.piece))


def _functions(
    image: Image, marks: Iterable[Mark], trim: Callable[[bytes], bytes], disputed: AbstractSet[str]
) -> dict[str, Function]:
    """Return the functions by name.

    A function without a size ends at the next start or the segment's end, less the padding.

    The result omits a name of several functions: the linker's choice depends on other files.
    """
    known = list(marks)
    starts = sorted({mark.address for mark in known})
    found: dict[str, Function] = {}
    several = set(disputed)
    for mark in known:
        segment = image.segment_at(mark.address)
        if segment is None or not segment.executable:
            continue
        size = mark.size
        if size == 0:
            after = bisect_right(starts, mark.address)
            end = min(segment.end, starts[after]) if after < len(starts) else segment.end
            start = mark.address - segment.address
            size = len(trim(segment.data[start : end - segment.address]))
        if mark.address + size <= segment.end:
            function = Function(mark.symbol, mark.address, size, mark.local)
            if found.setdefault(mark.symbol, function) != function:
                several.add(mark.symbol)
    return {name: function for name, function in found.items() if name not in several}
