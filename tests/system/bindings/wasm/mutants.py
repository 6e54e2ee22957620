"""Changed kernels: one instruction of a module replaced by another one of the same length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gfsmith.prove.machine.formats.image import Line, Listing

#: Instructions that are exchanged: wrong bounds, lost terms, wrong signs.
_OTHER = {
    "i32.eqz": ("45", "01"),
    "i32.eq": ("46", "47"),
    "i32.ne": ("47", "46"),
    "i32.lt_u": ("49", "4d"),
    "i32.gt_u": ("4b", "4f"),
    "i32.le_u": ("4d", "49"),
    "i32.ge_u": ("4f", "4b"),
    "i32.add": ("6a", "6b"),
    "i32.sub": ("6b", "6a"),
    "i32.xor": ("73", "71"),
    "i64.load32_u": ("35", "33"),
    "i64.load16_u": ("33", "31"),
    "i64.store": ("37", "3e"),
    "i64.store32": ("3e", "3d"),
    "i64.store16": ("3d", "3c"),
    "v128.xor": ("fd51", "fd4e"),
    "v128.and": ("fd4e", "fd51"),
    "i8x16.swizzle": ("fd0e", "fd51"),
    "i8x16.shr_u": ("fd6d", "fd6c"),
    "i8x16.shr_s": ("fd6c", "fd6d"),
    "i8x16.shl": ("fd6b", "fd6d"),
    "br_if": ("0d", "1a"),
    "local.set": ("21", "1a"),
}
#: Instructions whose number at the end is replaced by the next one, or by one 16 beyond.
_NEXT, _BEYOND = 1, 16
_NOP = 0x01
_MOST = 0x3F  #: the greatest number in one byte that is positive, signed or not


class Mutant(NamedTuple):
    """The new bytes at an address, and a description of the change."""

    address: int
    content: bytes
    what: str


def mutants(listing: Listing, data: bytes) -> Iterator[Mutant]:
    """Yield the mutants of a function in a module."""
    types = listing.parameters + listing.variables
    for line in listing.lines:
        old = data[line.address : line.address + line.size]
        for new in (*_exchanged(line, old), *_numbers(line, old), *_variables(line, old, types)):
            assert len(new) == len(old) and new != old
            yield Mutant(line.address, new, f"{line.text}: {old.hex(' ')} -> {new.hex(' ')}")


def _exchanged(line: Line, old: bytes) -> Iterator[bytes]:
    name = line.text.split()[0]
    if name in _OTHER:
        before, after = (bytes.fromhex(word) for word in _OTHER[name])
        assert old.startswith(before), line
        rest = old[len(before) :]
        yield after + (bytes([_NOP]) * len(rest) if name in ("br_if", "local.set") else rest)


def _numbers(line: Line, old: bytes) -> Iterator[bytes]:
    """Yield other constants, offsets and lanes."""
    name = line.text.split()[0]
    last = old[-1]
    if name == "i32.const" and len(old) == 2:
        yield bytes([old[0], last + _NEXT & 0x7F])
    elif name.endswith("_lane"):
        yield old[:-1] + bytes([last ^ _NEXT])
    elif ".load" in name or ".store" in name:
        yield from (old[:-1] + bytes([last + more]) for more in (_NEXT, _BEYOND) if last + more <= _MOST)
    elif name == "v128.const":
        yield old[:-1] + bytes([last ^ 0x10])


def _variables(line: Line, old: bytes, types: tuple[str, ...]) -> Iterator[bytes]:
    """Yield the next variable of the same type instead of the one that is read."""
    if line.text.startswith("local.get ") and len(old) == 2:
        same = [number for number, kind in enumerate(types) if kind == types[old[1]] and number < 0x80]
        other = same[(same.index(old[1]) + 1) % len(same)]
        if other != old[1]:
            yield bytes([old[0], other])


def changed(data: bytes, mutant: Mutant) -> bytes:
    end = mutant.address + len(mutant.content)
    return data[: mutant.address] + mutant.content + data[end:]
