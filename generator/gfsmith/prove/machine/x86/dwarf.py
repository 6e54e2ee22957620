"""DWARF call frame information (.eh_frame) of one function, with pyelftools' interpreter of it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from typing import Any

from elftools.common.exceptions import DWARFError, ELFError
from elftools.construct import ConstructError
from elftools.dwarf.callframe import FDE, CallFrameInfo
from elftools.dwarf.structs import DWARFStructs

from gfsmith.prove.machine.formats.image import FrameTable, Function, Image
from gfsmith.prove.machine.x86.frame_rules import Rules, Step, UnsupportedTable

_RSP, _RETURN = 7, 16
_HALF = 1 << 63
_GENERAL = ("rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", *(f"r{n}" for n in range(8, 16)))
#: DWARF register number -> name (System V ABI for AMD64, figure 3.36).
_NAME = dict(enumerate(_GENERAL))
_NAME |= {17 + number: f"xmm{number}" for number in range(16)}
#: The instructions of DWARF 4; those of vendors may have effects that the rows do not show. Instructions with
#: an operand in their low bits have one of the two high bits.
_STANDARD = range(0x17)
_PACKED = 0xC0
#: Exceptions of pyelftools on an .eh_frame that it cannot read.
_UNREADABLE = (DWARFError, ELFError, ConstructError, ValueError, LookupError, AttributeError, TypeError)


@dataclass(frozen=True, slots=True)
class _Frames:
    """Rows of one function: `starts` are offsets from the function's start, in order."""

    starts: list[int]
    rows: list[dict[Any, Any]]
    covered: range

    def at(self, step: Step) -> Rules | str:
        if step.offset not in self.covered:
            return "no unwind information here"
        row = self.rows[bisect_right(self.starts, step.offset) - 1]
        return _rules(row)


def find(image: Image, function: Function) -> _Frames | None:
    """Return the call frame information of a function, or None. Raises UnsupportedTable."""
    found = [pair for table in image.frames for pair in _about(table, function)]
    if len(found) > 1:
        raise UnsupportedTable("several entries for one function")
    for entry, covered in found:
        _check_plain(entry)
        return _decoded(entry, covered)
    if any(segment.name in ("__compact_unwind", "__unwind_info") for segment in image.segments):
        raise UnsupportedTable("only compact unwind information, which is not read")
    return None


def _about(table: FrameTable, function: Function) -> Iterator[tuple[FDE, range]]:
    """Yield the entries that cover a byte of a function, and the covered offsets."""
    start = _in_table(table, function.address)
    if start is None:
        return
    for entry in _entries(table):
        # Addresses are sums modulo 2^64, which pyelftools does not reduce.
        offset = (entry["initial_location"] - start + _HALF) % (2 * _HALF) - _HALF
        covered = range(offset, offset + entry["address_range"])
        if covered.start < function.size and covered.stop > 0:
            yield entry, covered


def _check_plain(entry: FDE) -> None:
    """Raise UnsupportedTable for effects that the rows do not show: instructions of vendors, another register
    for the return address, and functions that an unwinder calls."""
    common: Any = entry.cie
    if bytes(common["augmentation"]) not in (b"", b"zR") or common["return_address_register"] != _RETURN:
        raise UnsupportedTable("a personality routine, a signal frame or another return address")
    for instruction in (*common.instructions, *entry.instructions):
        code = int(instruction.opcode)
        if not code & _PACKED and code not in _STANDARD:
            raise UnsupportedTable(f"the instruction {code:#x}")


def _decoded(entry: FDE, covered: range) -> _Frames:
    try:
        rows = entry.get_decoded().table
    except _UNREADABLE as error:
        raise UnsupportedTable(f".eh_frame: {error}") from error
    starts = [row["pc"] - entry["initial_location"] + covered.start for row in rows]
    return _Frames(starts, rows, covered)


def _in_table(table: FrameTable, address: int) -> int | None:
    """Return an address of the image in the table's numbers."""
    if not table.moved:
        return address
    for moved in table.moved:
        if moved.address <= address < moved.address + moved.size:
            return address - moved.address + moved.original
    return None


@lru_cache(maxsize=2)
def _entries(table: FrameTable) -> list[FDE]:
    structs = DWARFStructs(little_endian=True, dwarf_format=32, address_size=8)
    stream = BytesIO(table.data)
    try:
        info = CallFrameInfo(stream, len(table.data), table.address, structs, for_eh_frame=True)
        return [entry for entry in info.get_entries() if isinstance(entry, FDE)]
    except _UNREADABLE as error:
        raise UnsupportedTable(f".eh_frame: {error}") from error


def _rules(row: dict[Any, Any]) -> Rules | str:
    """Return the rules of one row. CFA, the canonical frame address, is rsp at entry + 8 if the table is
    right."""
    cfa = row["cfa"]
    if cfa.expr is not None or cfa.reg is None:
        raise UnsupportedTable("the frame address is given by an expression")
    if cfa.reg != _RSP:
        raise UnsupportedTable(f"the frame address is given by {_NAME.get(cfa.reg, cfa.reg)}, not by rsp")
    slots = {}
    for number, rule in row.items():
        if number in ("pc", "cfa") or rule.type == "SAME_VALUE":
            continue
        if rule.type != "OFFSET" or (number != _RETURN and number not in _NAME):
            raise UnsupportedTable(f"rule {rule.type} for register {_NAME.get(number, number)}")
        slots[number] = rule.arg + 8
    if slots.pop(_RETURN, None) != 0:
        return "the table does not have the return address where it is"
    return Rules(cfa.offset - 8, {_NAME[number]: slot for number, slot in slots.items()})
