"""The machine code in a generated .S file, read from its text.

A preprocessor and an assembler read such a file. Conditions, macros, comments and several statements in one
line may produce other bytes than the listed ones. So each line must be, as a whole, one of the lines of
templates/x86_kernel.S.j2, in the order of the template.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_BYTE = "0x[0-9a-f]{2}"
#: A comment next to bytes: no quotes, backslashes, semicolons and slashes, which could end or continue it.
_COMMENT = r"[ +,\-.0-9A-Za-z\[\]{}()_:=^*]*"
_BYTES = re.compile(rf"    \.byte ({_BYTE}(?:,{_BYTE})*)(?: *| +# {_COMMENT})")
_LABEL = re.compile(r"# \.L[0-9]+:")
_NOTE = re.compile(r"# (?:while at least [0-9]+ bytes remain|the last [0-9]+ to [0-9]+ bytes)")
_REGISTER = "(?:r[a-ds][xpi]|r[0-9]{1,2}|[0-9]{1,2})"
_RULE = rf"\.cfi_(?:adjust_cfa_offset -?[0-9]+|rel_offset {_REGISTER}, [0-9]+|restore {_REGISTER})"
_CFI = re.compile(rf"    GFSMITH_CFI\({_RULE}(?:; {_RULE})*\)")
_FRAME = rf"pushreg {_REGISTER}|stackalloc [0-9]+|savexmm xmm[0-9]+, [0-9]+|endprologue"
_SEH = re.compile(rf"    GFSMITH_SEH\(\.seh_(?:{_FRAME})\)")
_LINES = (_LABEL, _NOTE, _CFI, _SEH)
_HEAD = re.compile(r"/\*(?:[^*\\]|\*(?!/))*\*/\n")
_TRIGRAPH = "??"  #: begins another character: `*??/`, a new line and `/` may end a comment
_ASCII = re.compile(r"[ -~\n]*")
_MS, _ELSE, _END = "#if defined(GFSMITH_ASM_MS_ABI)", "#else", "#endif"
_BEFORE = ('#include "gfsmith_asm.h"', "#if defined(GFSMITH_ASM_X86_64)", "")
_AFTER = ("", "#endif", "GFSMITH_OBJECT_NOTES", "")


class ListingError(ValueError):
    """A file that is not a generated kernel."""


def read(text: str, symbol: str) -> dict[str, bytes]:
    """Return the bytes of the function `symbol` by ABI, as the preprocessor selects them.

    Raises ListingError at the first line that no generated kernel has.
    """
    head = _HEAD.match(text)
    if head is None or not _ASCII.fullmatch(text) or _TRIGRAPH in text:
        raise ListingError("no generated kernel: it begins with a comment and has plain characters only")
    lines = iter(text[head.end() :].split("\n"))
    for line in (*_BEFORE, f"GFSMITH_FUNCTION({symbol})"):
        _expect(lines, line)
    code = _function(lines, f"GFSMITH_END({symbol})")
    for line in _AFTER:
        _expect(lines, line)
    if next(lines, None) is not None:
        raise ListingError("lines behind the end of the kernel")
    return code


def _expect(lines: Iterator[str], wanted: str) -> None:
    line = next(lines, None)
    if line != wanted:
        raise ListingError(f"{_shown(line)} instead of {wanted!r}")


def _function(lines: Iterator[str], end: str) -> dict[str, bytes]:
    """Return the bytes up to the line `end`, by ABI: lines between #if and #else are Microsoft's, lines
    between #else and #endif System V's, all others belong to both."""
    code = {"sysv": bytearray(), "ms": bytearray()}
    following = {"": _MS, "ms": _ELSE, "sysv": _END}
    active = ""
    for line in lines:
        if line == end and not active:
            return {abi: bytes(found) for abi, found in code.items()}
        if line == following[active]:
            active = {"": "ms", "ms": "sysv", "sysv": ""}[active]
        elif found := _BYTES.fullmatch(line):
            data = bytes(int(byte, 16) for byte in found[1].split(","))
            for abi in (active,) if active else code:
                code[abi] += data
        elif not any(rule.fullmatch(line) for rule in _LINES):
            raise ListingError(f"not a line of a generated kernel: {_shown(line)}")
    raise ListingError(f"no line {end}")


def _shown(line: str | None) -> str:
    return "the end of the file" if line is None else repr(line.strip())
