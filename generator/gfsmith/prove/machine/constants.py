"""Addresses and bytes of the file in which a function lies.

A linker lays out every section separately, so an address is the symbol of a piece plus an offset. The
prover assumes that the symbol is a multiple of the piece's alignment. It assumes no number for it, and no
distance between two pieces.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gfsmith.prove.machine.domain import Unsupported
from gfsmith.prove.machine.formats.image import Function, Image, Reference
from gfsmith.prove.machine.linear import Address, Linear, Word, add, subtract, symbol

#: The table of contents of POWER, which the linker places.
TABLE_OF_CONTENTS = symbol(Address("toc"))


def address_of(image: Image, place: int, piece: int | None = None) -> Linear:
    """Return the symbolic address of a place of the layout, in `piece` or in the piece that has the place."""
    index = image.piece_at(place) if piece is None else piece
    if index is None:
        raise Unsupported(f"an address outside of the file: {place:#x}")
    return Linear(place - image.pieces[index].start, ((Address("image", index), 1),))


@dataclass(slots=True)
class Constants:
    """The object file, as one function reads it. writable: data in writable sections is assumed to have the
    bytes of the file. reads: the places that were read as data."""

    image: Image
    function: Function
    writable: bool = False
    reads: set[int] = field(default_factory=set)

    def extent(self, index: int) -> int:
        """Return the number of bytes of a piece."""
        piece = self.image.pieces[index]
        return piece.end - piece.start

    def is_aligned(self, index: int, offset: Word, size: int) -> bool:
        """Return whether a place in a piece is a multiple of `size` wherever the linker puts the piece."""
        fits = isinstance(offset, int) and offset % size == 0
        return fits and self.image.pieces[index].alignment % size == 0

    def is_inside(self, place: int) -> bool:
        """Return True if a number is an address of the file."""
        return self.image.piece_at(place) is not None

    def load(self, index: int, offset: int, size: int) -> bytes | None:
        """Return bytes that are final in the file and that no program changes; None if there are none.

        A linker may move code or make it unreadable function by function, so constants in code must lie in
        the function itself.
        """
        piece = self.image.pieces[index]
        start = piece.start + offset
        self.reads.update(range(start, start + size))
        segment = self.image.segment_at(start)
        if offset < 0 or start + size > piece.end or segment is None:
            return None
        own = self.function.address <= start and start + size <= self.function.address + self.function.size
        if not (own if segment.executable else piece.final) or (segment.writable and not self.writable):
            return None
        if self.image.hole_in(start, size) or self.image.references_in(start, size):
            return None
        return self.image.read(start, size)

    def pointer(self, index: int, offset: int) -> Word | None:
        """Return the pointer that the linker writes to a place; None if it writes none."""
        start = self.image.pieces[index].start + offset
        found = self.image.references_in(start, 8)
        segment = self.image.segment_at(start)
        if len(found) != 1 or found[0].place != start or found[0].part != "pointer":
            return None
        if segment is None or segment.writable or offset < 0:
            return None
        return address_of(self.image, found[0].goal, found[0].piece)

    def relative(self, ip: int, next_ip: int, target: int) -> Word:
        """Return the address of an operand relative to the instruction at `ip`: by its relocation, or in the
        piece of the instruction."""
        found = self.image.references_in(ip, next_ip - ip)
        if found:
            return address_of(self.image, target, found[0].piece)
        return address_of(self.image, target, self.image.piece_at(ip))

    def reference(self, ip: int, size: int) -> Reference | None:
        """Return the relocation of an instruction."""
        return next(iter(self.image.references_in(ip, size)), None)

    def value(self, reference: Reference) -> Word:
        """Return the number that a relocation represents: S + A, less P or the table of contents if it is
        relative."""
        goal: Word = TABLE_OF_CONTENTS
        if reference.piece is not None:
            goal = address_of(self.image, reference.goal, reference.piece)
        else:
            goal = add(goal, reference.goal)
        if reference.origin == "place":
            return subtract(goal, address_of(self.image, reference.place))
        return subtract(goal, TABLE_OF_CONTENTS) if reference.origin == "toc" else goal

    def is_page_aligned(self, place: int) -> bool:
        """Return whether the distances of pages from a place are known."""
        index = self.image.piece_at(place)
        return index is not None and self.image.pieces[index].alignment % 4096 == 0
