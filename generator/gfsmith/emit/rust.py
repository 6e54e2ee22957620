"""Proved machine code as a Rust module: the code as data for `global_asm!`, and the list of kernels.

A file for each instruction set has the bytes of its kernels between calls of two assembler macros, which
state the symbol. Three other files define the macros, for ELF, Mach-O and COFF. Rust calls the kernels for
x86-64 as `extern "sysv64"` on every system, so Windows needs no other machine code. The macros are undefined
again at the end, because with link-time optimization the assembler text of all crates is one file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gfsmith.emit import packaged
from gfsmith.emit.packaged import Entry, Proved
from gfsmith.emit.template import render
from gfsmith.kernel.architecture import Arch

#: Format of object files -> the condition of Rust for the systems that use it.
FORMATS = {
    "macho": 'target_vendor = "apple"',
    "coff": 'any(windows, target_os = "cygwin", target_os = "uefi")',
    "elf": 'not(any(target_vendor = "apple", windows, target_os = "cygwin", target_os = "uefi"))',
}
_WORD, _WORDS_A_LINE = 8, 4
_INSTRUCTION, _INSTRUCTIONS_A_LINE = 4, 8


@dataclass(frozen=True, slots=True)
class _Machine:
    """An architecture in Rust. condition: its targets that have the vector registers and can read code."""

    name: str
    title: str
    convention: str
    options: str
    condition: str


_MACHINES = {
    Arch.X86_64: _Machine(
        "x86_64",
        "x86-64, with the calling convention of System V on every system",
        "sysv64",
        "att_syntax, raw",
        'all(target_arch = "x86_64", target_pointer_width = "64", target_feature = "sse2", not(miri))',
    ),
    Arch.AARCH64: _Machine(
        "aarch64",
        "AArch64. Their constants lie in the code, which OpenBSD does not let programs read",
        "C",
        "raw",
        'all(target_arch = "aarch64", target_pointer_width = "64", target_endian = "little", '
        'target_feature = "neon", not(target_os = "openbsd"), not(miri))',
    ),
}


def directives(row: Entry) -> list[str]:
    """Return the bytes of a kernel as directives: words, then the rest as bytes; for AArch64 instructions."""
    code = row.code
    if row.spec.isa.arch is Arch.AARCH64:
        return _lines(".inst", code, _INSTRUCTION, _INSTRUCTIONS_A_LINE)
    whole = len(code) - len(code) % _WORD
    rest = [f".byte {', '.join(map(str, code[whole:]))}"] if whole < len(code) else []
    return _lines(".quad", code[:whole], _WORD, _WORDS_A_LINE) + rest


def _lines(directive: str, code: bytes, size: int, count: int) -> list[str]:
    words = [int.from_bytes(code[at : at + size], "little") for at in range(0, len(code), size)]
    lines = [words[at : at + count] for at in range(0, len(words), count)]
    return [f"{directive} {', '.join(f'{word:#x}' for word in line)}" for line in lines]


def files(kernels: Sequence[Proved]) -> dict[str, str]:
    """Return path -> text of a Rust module with these kernels, which must satisfy `packaged.takes`."""
    specs = [spec for spec, _ in kernels]
    present = {arch: m for arch, m in _MACHINES.items() if any(spec.isa.arch is arch for spec in specs)}
    conditions = {machine.name: machine.condition for machine in present.values()}
    found = {
        "mod.rs": render("rust_mod.rs.j2", matrices=packaged.matrices(specs), conditions=conditions),
        **{f"begin_{form}.s": render(f"rust_begin_{form}.s.j2") for form in FORMATS},
    }
    for arch, machine in present.items():
        found |= _machine_files(packaged.entries(kernels, arch), machine)
    return found


def _machine_files(rows: Sequence[Entry], machine: _Machine) -> dict[str, str]:
    """Return the files for one architecture."""
    isas = packaged.isas([row.spec for row in rows])
    text = render("rust_code.rs.j2", isas=isas, rows=rows, formats=FORMATS, machine=machine)
    found = {f"{machine.name}.rs": text}
    for number, isa in enumerate(isas):
        own = [row for row in rows if row.isa == number]
        found[f"{isa.name}.s"] = render("rust_kernels.s.j2", isa=isa, rows=own, directives=directives)
    return found
