"""The machine code in a generated .S file."""

from __future__ import annotations

import re

from judge.integers import require

#: A whole file: lines around the function could hide it, or add another one.
_HEAD = r'/\*(?:[^*\\?]|\*(?!/))*\*/\n#include "gfsmith_asm.h"\n#if defined\(GFSMITH_ASM_X86_64\)\n\n'
_FUNCTION = r"GFSMITH_FUNCTION\((\w+)\)\n(.*)\nGFSMITH_END\(\1\)\n\n#endif\nGFSMITH_OBJECT_NOTES\n"
_FILE = re.compile(_HEAD + _FUNCTION, re.DOTALL)
_BYTES = re.compile(r"    \.byte ((?:0x[0-9a-f]{2},)*0x[0-9a-f]{2})(?: *# [^\\/]*)?")
#: Lines without code: comments, which the preprocessor must not read, and directives about unwinding.
_COMMENT = r"# (?:\.L\d+:|while at least \d+ bytes remain|the last \d+ to \d+ bytes)"
_RULES = r"\.(?:cfi_(?:adj|rel|res)\w+|seh_(?:push|stack|save|endpro)\w+)[\w ,-]*(?:; )?"
_OTHER = re.compile(_COMMENT + rf"|    GFSMITH_(?:CFI|SEH)\((?:{_RULES})+\)|")
#: A line, and the ABI before and after it; "" is both.
_BRANCHES = {"#if defined(GFSMITH_ASM_MS_ABI)": ("", "ms"), "#else": ("ms", "sysv"), "#endif": ("sysv", "")}


def read(text: str, symbol: str) -> dict[str, bytes]:
    """Return the bytes of a function by ABI: lines between #if and #else are Microsoft's, lines between #else
    and #endif System V's, others belong to both."""
    found = _FILE.fullmatch(text)
    require(found is not None and found[1] == symbol, "no listing of {}", symbol)
    code: dict[str, bytearray] = {"sysv": bytearray(), "ms": bytearray()}
    active = ""
    for line in found[2].split("\n"):  # type: ignore[index]
        if data := _BYTES.fullmatch(line):
            for abi in [active] if active else code:
                code[abi] += bytes(int(byte, 16) for byte in data[1].split(","))
        elif line in _BRANCHES:
            before, after = _BRANCHES[line]
            require(active == before, "{} at another place", line)
            active = after
        else:
            require(bool(_OTHER.fullmatch(line)), "a line that no generated kernel has: {}", line.strip())
    require(not active, "a branch without an end")
    return {abi: bytes(found) for abi, found in code.items()}
