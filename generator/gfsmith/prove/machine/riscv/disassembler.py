"""Disassembly of RISC-V code by objdump of the GNU binutils, which shares no code with LLVM's compilers.

objdump decodes the extensions V, Zbb and Zbc only if the file requires them, so the bytes of a function are
put into a minimal ELF file with this attribute (RISC-V ELF psABI Specification 1.0, chapter 9).
"""

from __future__ import annotations

import re
import struct
import subprocess
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from gfsmith.prove.machine.domain import Unsupported

TOOL = "riscv64-linux-gnu-objdump"
_EXTENSIONS = "rv64i2p1_m2p0_a2p1_f2p2_d2p2_c2p0_v1p0_zicsr2p0_zbb1p0_zbc1p0"
_MACHINE, _ATTRIBUTES = 243, 0x70000003  #: EM_RISCV, SHT_RISCV_ATTRIBUTES
_HEADER, _SECTION = struct.Struct("<16sHHIQQQIHHHHHH"), struct.Struct("<IIQQQQIIQQ")
_NAMES = b"\0.text\0.riscv.attributes\0.shstrtab\0"
_LINE = re.compile(r" *([0-9a-f]+):\t((?:[0-9a-f]{4})+) +\t(.*)")


class Line(NamedTuple):
    """One instruction: its offset in the function, its bytes, and its text."""

    offset: int
    size: int
    text: str


def _attributes() -> bytes:
    """Return the section that states the extensions: vendor riscv, tag 1 (file), tag 5 (architecture)."""
    value = b"\x05" + _EXTENSIONS.encode() + b"\0"
    file = b"\x01" + struct.pack("<I", 5 + len(value)) + value
    vendor = b"riscv\0" + file
    return b"A" + struct.pack("<I", 4 + len(vendor)) + vendor


def _object(code: bytes) -> bytes:
    """Return an ELF file whose section .text at address 0 is `code`."""
    parts = [(1, 1, 6, code), (7, _ATTRIBUTES, 0, _attributes()), (25, 3, 0, _NAMES)]
    table, content = [bytes(_SECTION.size)], b""
    for name, kind, flags, data in parts:
        table.append(_SECTION.pack(name, kind, flags, 0, _HEADER.size + len(content), len(data), 0, 0, 1, 0))
        content += data
    start, ident = _HEADER.size + len(content), b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    header = _HEADER.pack(
        ident, 1, _MACHINE, 1, 0, 0, start, 5, _HEADER.size, 0, 0, _SECTION.size, len(table), len(table) - 1
    )
    return header + content + b"".join(table)


def _listing(code: bytes) -> str:
    """Return the output of objdump. Raises Unsupported if it cannot be run."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "code.o"
        path.write_bytes(_object(code))
        command = [TOOL, "-d", "-z", "-M", "no-aliases,numeric", str(path)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            raise Unsupported(f"{TOOL} is not installed; it decodes RISC-V") from None
    if done.returncode:
        raise Unsupported(f"{TOOL} fails: {done.stderr.strip().splitlines()[-1]}")
    return done.stdout


@lru_cache(maxsize=1 << 10)
def disassemble(code: bytes) -> tuple[Line, ...]:
    """Return the instructions of a function. Raises Unsupported unless the lines have all bytes of the
    function, in order."""
    lines, content = [], b""
    for row in _listing(code).splitlines():
        found = _LINE.fullmatch(row)
        if found is None:
            continue
        data = b"".join(int(part, 16).to_bytes(2, "little") for part in _halves(found[2]))
        if int(found[1], 16) != len(content):
            raise Unsupported(f"{TOOL} skips bytes before {found[1]}")
        lines.append(Line(len(content), len(data), found[3]))
        content += data
    if content != code:
        raise Unsupported(f"{TOOL} returns other bytes than those of the function")
    return tuple(lines)


def _halves(digits: str) -> list[str]:
    """Return the digits of an instruction, which begin with its last byte, in parts of 16 bits from its first
    byte on."""
    return [digits[at : at + 4] for at in range(len(digits) - 4, -1, -4)]
