"""Proved x86 machine code as a Rust module: the code as data for `global_asm!`, and the list of kernels.

A file for each instruction set has the bytes of its kernels between calls of two assembler macros, which
state the symbol. Three other files define the macros, for ELF, Mach-O and COFF. Rust calls the kernels as
`extern "sysv64"` on every system, so Windows needs no other machine code. The macros are undefined again at
the end, because with link-time optimization the assembler text of all crates is one file.
"""

from __future__ import annotations

from collections.abc import Sequence

from gfsmith.emit import packaged
from gfsmith.emit.packaged import Proved
from gfsmith.emit.template import render

#: Format of object files -> the condition of Rust for the systems that use it.
FORMATS = {
    "macho": 'target_vendor = "apple"',
    "coff": 'any(windows, target_os = "cygwin", target_os = "uefi")',
    "elf": 'not(any(target_vendor = "apple", windows, target_os = "cygwin", target_os = "uefi"))',
}
_WORD, _WORDS_A_LINE = 8, 4


def directives(code: bytes) -> list[str]:
    """Return the bytes as directives: words, then the rest as bytes."""
    whole = len(code) - len(code) % _WORD
    words = [int.from_bytes(code[at : at + _WORD], "little") for at in range(0, whole, _WORD)]
    lines = [words[at : at + _WORDS_A_LINE] for at in range(0, len(words), _WORDS_A_LINE)]
    rows = [f".quad {', '.join(f'{word:#x}' for word in line)}" for line in lines]
    rest = [f".byte {', '.join(map(str, code[whole:]))}"] if whole < len(code) else []
    return rows + rest


def files(kernels: Sequence[Proved]) -> dict[str, str]:
    """Return path -> text of a Rust module with these kernels, which must satisfy `packaged.takes`."""
    specs = [spec for spec, _ in kernels]
    isas, rows = packaged.isas(specs), packaged.entries(kernels)
    found = {
        "mod.rs": render("rust_mod.rs.j2", matrices=packaged.matrices(specs)),
        "x86_64.rs": render("rust_x86_64.rs.j2", isas=isas, rows=rows, formats=FORMATS),
    }
    for form in FORMATS:
        found[f"begin_{form}.s"] = render(f"rust_begin_{form}.s.j2")
    for number, isa in enumerate(isas):
        own = [row for row in rows if row.isa == number]
        found[f"{isa.name}.s"] = render("rust_kernels.s.j2", isa=isa, rows=own, directives=directives)
    return found
