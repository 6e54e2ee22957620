"""Conversion of a kernel's .S file to one assembly statement in C: the same bytes, without their disassembly.

The macros of gfsmith_inline_asm.h replace those of gfsmith_asm.h and produce strings. The preprocessor
evaluates conditions as in the .S file.
"""

from __future__ import annotations

import re

_CALL = re.compile(r"\s*(GFSMITH_\w+)\((.*)\)\s*")
_BYTES = re.compile(r"\s*\.byte (\S+)\s*(?:#.*)?")
_ROW = 24  #: bytes per line


class AssemblyError(Exception):
    """A line that does not occur in kernels."""


def statement(source: str) -> str:
    """Return the lines from GFSMITH_FUNCTION(x) to GFSMITH_END(x) as `__asm__(...);`."""
    lines = source.splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith("GFSMITH_FUNCTION("))
    last = next(n for n, line in enumerate(lines) if line.startswith("GFSMITH_END("))
    written: list[str] = ["__asm__("]
    waiting: list[str] = []
    for line in lines[first : last + 1]:
        found = _BYTES.fullmatch(line)
        if found:
            waiting += found[1].split(",")
            continue
        if line.startswith("# "):
            continue
        written += _rows(waiting)
        waiting = []
        written.append(_line(line))
    return "\n".join([*written, ");\n"])


def _rows(values: list[str]) -> list[str]:
    chunks = (values[start : start + _ROW] for start in range(0, len(values), _ROW))
    return [f'  ".byte {",".join(chunk)}\\n"' for chunk in chunks]


def _line(line: str) -> str:
    """Return a preprocessor directive, or a macro with its argument as a string."""
    if line.startswith("#"):
        return line
    call = _CALL.fullmatch(line)
    if call is None:
        raise AssemblyError(f"not a line of a kernel: {line}")
    return f'  {call[1]}("{call[2]}")'
