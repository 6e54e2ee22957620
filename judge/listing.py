"""The machine code in a generated .S file."""

from __future__ import annotations

import re

from judge.integers import require

_BYTES = re.compile(r"    \.byte ((?:0x[0-9a-f]{2},)*0x[0-9a-f]{2})(?: *# [^\\/]*)?")
#: Lines without code: comments, which the preprocessor must not read, and directives about unwinding.
_COMMENT = r"# (?:\.L\d+:|while at least \d+ bytes remain|the last \d+ to \d+ bytes)"
_OTHER = re.compile(_COMMENT + r"|    GFSMITH_(?:CFI|SEH)\((?:\.(?:cfi|seh)_[\w ,-]+(?:; )?)+\)|")
#: A line, and the ABI before and after it; "" is both.
_BRANCHES = {"#if defined(GFSMITH_ASM_MS_ABI)": ("", "ms"), "#else": ("ms", "sysv"), "#endif": ("sysv", "")}


def read(text: str, symbol: str) -> dict[str, bytes]:
    """Return the bytes of a function by ABI: lines between #if and #else are Microsoft's, lines between #else
    and #endif System V's, others belong to both."""
    begin, end = f"GFSMITH_FUNCTION({symbol})\n", f"\nGFSMITH_END({symbol})\n"
    require(text.count(begin) == 1 == text.count(end), "no function {}", symbol)
    code: dict[str, bytearray] = {"sysv": bytearray(), "ms": bytearray()}
    active = ""
    for line in text.partition(begin)[2].partition(end)[0].split("\n"):
        if found := _BYTES.fullmatch(line):
            for abi in [active] if active else code:
                code[abi] += bytes(int(byte, 16) for byte in found[1].split(","))
        elif line in _BRANCHES:
            before, after = _BRANCHES[line]
            require(active == before, "{} at another place", line)
            active = after
        else:
            require(bool(_OTHER.fullmatch(line)), "a line that no generated kernel has: {}", line.strip())
    require(not active, "a branch without an end")
    return {abi: bytes(found) for abi, found in code.items()}
